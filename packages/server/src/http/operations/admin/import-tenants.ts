/** `POST /v1/admin/tenants/import`: many tenants and their keys from one file, once for each reference (PROTOCOL §12.3). */
import { randomUUID } from 'node:crypto'
import type { ImportedTenant, ImportTenantOutcome } from '../../../storage/storage.ts'
import type { HttpContext } from '../../context.ts'
import { refused } from '../../exchange.ts'
import type { Access, Outcome, Request } from '../../exchange.ts'
import { readBodyHeaders, refusalOfBytes, unsupportedType } from '../../requests/body-headers.ts'
import { maxImportLines, readImport } from '../../requests/import-body.ts'
import type { ImportLine } from '../../requests/import-body.ts'
import type { Operation } from '../operation.ts'
import { readBody } from '../publish-events.ts'
import { adminAnswer, adminOperation, noParameters } from './admin-operation.ts'
import { actorOf } from './tenants.ts'

/** In one commit, which on SQLite takes some tens of milliseconds: publishers wait meanwhile. */
const tenantsPerCommit = 200

export function importTenants(context: HttpContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    path: '/tenants/import',
    need: 'admin:manage',
    operatorsOnly: true,
    operationId: 'importTenants',
    summary: 'Make tenants and their keys from a file',
    description:
      'At most 10,000, as an array or one JSON object a line (`application/x-ndjson`). A faulty line refuses the file, and nothing is made. A reference that a tenant has already is left as it is, so that the file can be sent again. The text of each key stands in this answer and nowhere else.',
    body: 'TenantImport',
    listOf: maxImportLines,
    ok: { description: 'What became of each line, in their order.', schema: 'ImportedTenants' },
    answer: ({ request, access }) => withFile(context, request, access),
  })
}

async function withFile(context: HttpContext, request: Request, access: Access): Promise<Outcome> {
  const { maxBodyBytes } = context.limits
  const head = readBodyHeaders(request, maxBodyBytes)
  if (head.kind === 'refused') return head
  if (head.format === undefined) return refused(unsupportedType(request.header('content-type') ?? ''))
  const length = Number(request.header('content-length') ?? maxBodyBytes)
  const full = context.inFlight.refuses(access.keyId, 'publication', length)
  if (full !== undefined) return refused(full)
  const flight = context.inFlight.begin(access.keyId, 'publication')
  try {
    const body = await readBody(request, head.coding, maxBodyBytes, flight)
    if (body.kind === 'gone') return { kind: 'none' }
    if (body.kind === 'refused') return body
    const fault = refusalOfBytes(body.bytes)
    if (fault !== undefined) return refused(fault)
    const reading = await readImport(body.bytes.toString('utf8'), head.format)
    if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
    return await bringIn(context, access, reading.lines, request.id)
  } finally {
    flight.end()
  }
}

interface Wanted {
  readonly line: ImportLine
  readonly imported: ImportedTenant
  /** The texts of its keys, in their order. */
  readonly texts: readonly string[]
}

async function bringIn(
  context: HttpContext,
  access: Access,
  lines: readonly ImportLine[],
  requestId: string,
): Promise<Outcome> {
  const items: object[] = []
  const counts = { created: 0, known: 0, refused: 0 }
  for (let from = 0; from < lines.length; from += tenantsPerCommit) {
    const wanted = await wantedOf(context, lines.slice(from, from + tenantsPerCommit))
    const outcomes = await commit(context, access, wanted, from === 0 ? undefined : requestId)
    for (const [index, one] of wanted.entries()) {
      const outcome = outcomes[index] ?? failed
      counts[countedAs[outcome.kind]] += 1
      items.push(itemOf(one, outcome))
    }
  }
  return adminAnswer({ ...counts, items })
}

const failed = { kind: 'failed' } as const
type LineOutcome = ImportTenantOutcome | typeof failed

const countedAs = { created: 'created', known: 'known', nameTaken: 'refused', failed: 'refused' } as const

/**
 * Once keys have been made, their texts have to be told, whatever becomes of the rest of the file: it can be sent again. `requestId`:
 * given from the second commit on.
 */
async function commit(
  { admin, outages }: HttpContext,
  access: Access,
  wanted: readonly Wanted[],
  requestId: string | undefined,
): Promise<readonly LineOutcome[]> {
  const made = admin.importTenants(
    wanted.map(({ imported }) => imported),
    actorOf(access),
  )
  if (requestId === undefined) return made
  return made.catch((error: unknown) => {
    outages.requestFailed(error, requestId, true)
    return []
  })
}

async function wantedOf(
  { keyIssuer }: HttpContext,
  lines: readonly ImportLine[],
): Promise<readonly Wanted[]> {
  const createdMs = Date.now()
  const tenants = lines.map((line) => ({ line, tenantId: randomUUID() }))
  const made = await keyIssuer.make(
    tenants.flatMap(({ line, tenantId }) =>
      line.keys.map(({ label, scopes }) => {
        const grants = [{ tenantId, scopes }]
        return { label, operator: false, grants, expiresMs: undefined, nowMs: createdMs }
      }),
    ),
  )
  let next = 0
  return tenants.map(({ line, tenantId }) => {
    const own = made.slice(next, (next += line.keys.length))
    const { name, reference } = line
    const tenant = { tenantId, name, reference, createdMs, suspended: false }
    return {
      line,
      imported: { tenant, keys: own.map(({ record }) => record) },
      texts: own.map(({ text }) => text),
    }
  })
}

function itemOf({ line: { reference }, imported, texts }: Wanted, outcome: LineOutcome): object {
  if (outcome.kind === 'created') {
    const keys = imported.keys.map(({ keyId, label }, index) => ({ keyId, label, key: texts[index] }))
    return { reference, outcome: 'created', tenantId: imported.tenant.tenantId, keys }
  }
  const tenantId = outcome.kind === 'known' ? outcome.tenant.tenantId : null
  const word = { known: 'known', nameTaken: 'name_taken', failed: 'failed' }[outcome.kind]
  return { reference, outcome: word, tenantId, keys: [] }
}
