/** Makes keys for a service, with the pepper that every node of its store knows (D11). */
import type { Actor } from '../audit/actor.ts'
import type { KeyStore } from './key.ts'
import type { NodeStore } from '../nodes/node.ts'
import type { TenantStore } from '../tenants/tenant.ts'
import { importTenantLines } from '../tenants/import-tenants.ts'
import type { ImportedLine, TenantLine } from '../tenants/import-tenants.ts'
import { issueKey, newKey, rotateKey } from './issue.ts'
import type { IssueOutcome, IssueRequest, MadeKey, RotateOutcome, RotateRequest } from './issue.ts'
import { pepperForNew, readPepperUse } from './pepper-fit.ts'
import type { Pepper } from './pepper.ts'

/**
 * Each method rejects when the store does, and when this node lacks the pepper of new keys. Such a node is not ready, and would not
 * recognise any new key.
 */
export interface KeyIssuer {
  issue(request: IssueRequest): Promise<IssueOutcome>
  rotate(keyId: string, request: RotateRequest): Promise<RotateOutcome>
  /** Makes keys with their texts, without storing them. */
  make(requests: readonly Omit<IssueRequest, 'actor'>[]): Promise<readonly MadeKey[]>
  /** See `importTenantLines`. */
  importTenants(lines: readonly TenantLine[], actor: Actor): AsyncGenerator<readonly ImportedLine[]>
}

interface KeyIssuerParts {
  readonly keys: KeyStore
  readonly tenants: Pick<TenantStore, 'importTenants'>
  readonly nodes: Pick<NodeStore, 'pepperId'>
  /** The peppers of this node. */
  readonly peppers: readonly Pepper[]
}

export function createKeyIssuer({ keys, tenants, nodes, peppers }: KeyIssuerParts): KeyIssuer {
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
    importTenants: (lines, actor) => importTenantLines({ tenants, make }, lines, actor),
    issue: async (request) => issueKey(keys, await pepperOf(), request),
    rotate: async (keyId, request) => rotateKey(keys, await pepperOf(), keyId, request),
  }
}
