/** Imports many tenants and their keys from a file, each reference once (PROTOCOL §12.3). */
import { randomUUID } from 'node:crypto'
import type { Scope } from '@property-events/protocol'
import type { Actor } from '../audit/actor.ts'
import type { ImportedTenant, ImportTenantOutcome, TenantStore } from './tenant.ts'
import type { IssueRequest, MadeKey } from '../keys/issue.ts'

/** A line of the file. */
export interface TenantLine {
  readonly reference: string
  readonly name: string
  readonly keys: readonly { readonly label: string; readonly scopes: readonly Scope[] }[]
}

/** The outcome of a line. */
export interface ImportedLine {
  readonly line: TenantLine
  readonly outcome: ImportTenantOutcome
  /** The id of the tenant that has the reference now; `undefined`: no tenant has it. */
  readonly tenantId: string | undefined
  /** The keys that were made, with their texts. */
  readonly keys: readonly { readonly keyId: string; readonly label: string; readonly text: string }[]
}

type MakeKeys = (requests: readonly Omit<IssueRequest, 'actor'>[]) => Promise<readonly MadeKey[]>

/** The tenants made in one commit. On SQLite a commit takes some tens of milliseconds, and publishers wait meanwhile. */
const tenantsPerCommit = 200

/** Yields the lines of each commit once the commit is on disk. Rejects when the store does; the commits before it stay. */
export async function* importTenantLines(
  { tenants, make }: { readonly tenants: Pick<TenantStore, 'importTenants'>; readonly make: MakeKeys },
  lines: readonly TenantLine[],
  actor: Actor,
): AsyncGenerator<readonly ImportedLine[]> {
  for (let from = 0; from < lines.length; from += tenantsPerCommit) {
    const wanted = await newKeysOf(make, lines.slice(from, from + tenantsPerCommit))
    const outcomes = await tenants.importTenants(
      wanted.map(({ imported }) => imported),
      actor,
    )
    yield outcomes.flatMap((outcome, index) => {
      const one = wanted[index]
      return one === undefined ? [] : [lineOf(one, outcome)]
    })
  }
}

interface NewTenantKeys {
  readonly line: TenantLine
  readonly imported: ImportedTenant
  /** The texts of the tenant's keys, in their order. */
  readonly texts: readonly string[]
}

async function newKeysOf(make: MakeKeys, lines: readonly TenantLine[]): Promise<readonly NewTenantKeys[]> {
  const createdMs = Date.now()
  const tenants = lines.map((line) => ({ line, tenantId: randomUUID() }))
  const made = await make(
    tenants.flatMap(({ line, tenantId }) =>
      line.keys.map(({ label, scopes }) => {
        const grants = [{ tenantId, scopes }]
        return { label, operator: false, grants, expiresMs: undefined, nowMs: createdMs }
      }),
    ),
  )
  let next = 0
  return tenants.map(({ line, tenantId }) => {
    const own = made.slice(next, next + line.keys.length)
    next += line.keys.length
    const { name, reference } = line
    const tenant = { tenantId, name, reference, createdMs, suspended: false }
    return {
      line,
      imported: { tenant, keys: own.map(({ record }) => record) },
      texts: own.map(({ text }) => text),
    }
  })
}

function lineOf({ line, imported, texts }: NewTenantKeys, outcome: ImportTenantOutcome): ImportedLine {
  if (outcome.kind === 'created') {
    const keys = imported.keys.map(({ keyId, label }, index) => ({ keyId, label, text: texts[index] ?? '' }))
    return { line, outcome, tenantId: imported.tenant.tenantId, keys }
  }
  return { line, outcome, tenantId: outcome.kind === 'known' ? outcome.tenant.tenantId : undefined, keys: [] }
}
