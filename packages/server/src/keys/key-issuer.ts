/** Making keys of a service: with the pepper that every node of its store knows (D11). */
import type { Actor, AdminStore, KeyRecord, KeyStore, NodeStore } from '../storage/storage.ts'
import { importTenantLines } from './import-tenants.ts'
import type { ImportedLine, TenantLine } from './import-tenants.ts'
import { issueKey, newKey, rotateKey } from './issue.ts'
import type { IssueOutcome, IssueRequest, RotateOutcome, RotateRequest } from './issue.ts'
import { pepperForNew, readPepperUse } from './pepper-fit.ts'
import type { Pepper } from './pepper.ts'

/** All reject as the store does, and where this node has not the pepper of new keys: then it is not ready, and would know none. */
export interface KeyIssuer {
  issue(request: IssueRequest): Promise<IssueOutcome>
  rotate(keyId: string, request: RotateRequest): Promise<RotateOutcome>
  /** Keys with their texts, stored nowhere yet. */
  make(requests: readonly Omit<IssueRequest, 'actor'>[]): Promise<readonly MadeKey[]>
  /** As `importTenantLines`. */
  importTenants(lines: readonly TenantLine[], actor: Actor): AsyncGenerator<readonly ImportedLine[]>
}

export interface MadeKey {
  readonly text: string
  readonly record: KeyRecord
}

export interface KeyIssuerParts {
  readonly keys: KeyStore
  readonly admin: Pick<AdminStore, 'rotateKey' | 'importTenants'>
  readonly nodes: Pick<NodeStore, 'pepperId'>
  /** Of this node. */
  readonly peppers: readonly Pepper[]
}

export function createKeyIssuer({ keys, admin, nodes, peppers }: KeyIssuerParts): KeyIssuer {
  const pepperOf = async (): Promise<Pepper> => {
    const pepper = pepperForNew(peppers, await readPepperUse({ keys, nodes }))
    if (pepper === undefined) throw new Error('the pepper of this node is not that of new keys')
    return pepper
  }
  const make: KeyIssuer['make'] = async (requests) => {
    const pepper = await pepperOf()
    return requests.map((request) => newKey(pepper, request))
  }
  return {
    make,
    importTenants: (lines, actor) => importTenantLines({ admin, make }, lines, actor),
    issue: async (request) => issueKey(keys, await pepperOf(), request),
    rotate: async (keyId, request) => rotateKey(admin, await pepperOf(), keyId, request),
  }
}
