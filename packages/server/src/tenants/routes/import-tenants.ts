/** `POST /v1/admin/tenants/import`: many tenants and their keys from one file, once for each reference (PROTOCOL §12.3). */
import type { ImportedTenant } from '@property-events/protocol/wire'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Request } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { readBodyHeaders, refusalOfBytes, unsupportedType } from '../../http/requests/body-headers.ts'
import { maxImportLines, readImport } from './import-body.ts'
import type { TenantLine } from '../import-tenants.ts'
import type { Operation } from '../../http/operation.ts'
import { readBody } from '../../http/requests/read-body.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { actorOf } from './tenants.ts'
import type { AdminContext } from '../../http/admin-operation.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { KeyIssuer } from '../../keys/index.ts'
import type { FailureObserver } from '../../http/observer.ts'

interface Context extends AdminContext, BodyContext {
  readonly keyIssuer: KeyIssuer
  readonly outages: FailureObserver
}

export function importTenants(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    path: '/tenants/import',
    need: 'admin:manage',
    operatorsOnly: true,
    operationId: 'importTenants',
    summary: 'Import tenants and their keys',
    description:
      'At most 10,000, as an array or one JSON object a line (`application/x-ndjson`). If a line is faulty, the whole file is refused and nothing is created. A tenant whose reference is already known is left as it is, so the file can be sent again. The text of each key is in this answer and nowhere else.',
    body: 'TenantImport',
    listOf: maxImportLines,
    ok: { description: 'The result of each line, in order.', schema: 'ImportedTenants' },
    answer: ({ request, access }) => withFile(context, request, access),
  })
}

async function withFile(context: Context, request: Request, access: Access): Promise<Outcome> {
  const { maxBodyBytes } = context.limits
  const head = readBodyHeaders(request, maxBodyBytes)
  if (head.kind === 'refused') return head
  if (head.format === undefined) return refused(unsupportedType(request.header('content-type') ?? ''))
  const length = Number(request.header('content-length') ?? maxBodyBytes)
  const full = context.inFlight.refuses(access.keyId, 'publication', length)
  if (full !== undefined) return refused(full)
  const flight = context.inFlight.begin(access.keyId, 'publication')
  try {
    const body = await readBody(context, request, access, head.coding, flight, maxBodyBytes)
    if (body.kind === 'gone') return { kind: 'none' }
    if (body.kind === 'refused') return body
    const fault = refusalOfBytes(body.bytes)
    if (fault !== undefined) return refused(await fault)
    const reading = await readImport(body.bytes.toString('utf8'), head.format)
    if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
    return await bringIn(context, access, reading.lines, request.id)
  } finally {
    flight.end()
  }
}

/** Once keys have been made, the answer must contain their texts, whatever becomes of the rest of the file: it can be sent again. */
async function bringIn(
  context: Context,
  access: Access,
  lines: readonly TenantLine[],
  requestId: string,
): Promise<Outcome> {
  const items: ImportedTenant[] = []
  const counts = { created: 0, known: 0, refused: 0 }
  try {
    for await (const imported of context.keyIssuer.importTenants(lines, actorOf(access))) {
      for (const { line, outcome, tenantId = null, keys } of imported) {
        counts[countedAs[outcome.kind]] += 1
        const shown = keys.map(({ keyId, label, text }) => ({ keyId, label, key: text }))
        items.push({ reference: line.reference, outcome: words[outcome.kind], tenantId, keys: shown })
      }
    }
  } catch (error) {
    if (items.length === 0) throw error
    context.outages.requestFailed(error, requestId, true)
  }
  const failed = lines.slice(items.length).map(({ reference }): ImportedTenant => {
    return { reference, outcome: 'failed', tenantId: null, keys: [] }
  })
  const refusedLines = counts.refused + failed.length
  return uncachedAnswer({ ...counts, refused: refusedLines, items: [...items, ...failed] })
}

const countedAs = { created: 'created', known: 'known', nameTaken: 'refused' } as const
const words = { created: 'created', known: 'known', nameTaken: 'name_taken' } as const
