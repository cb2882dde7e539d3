/** Making keys of a service: with the pepper that every node of its store knows (D11). */
import type { AdminStore, KeyRecord, KeyStore, NodeStore } from '../storage/storage.ts'
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
}

export interface MadeKey {
  readonly text: string
  readonly record: KeyRecord
}

export interface KeyIssuerParts {
  readonly keys: KeyStore
  readonly admin: Pick<AdminStore, 'rotateKey'>
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
  return {
    issue: async (request) => issueKey(keys, await pepperOf(), request),
    rotate: async (keyId, request) => rotateKey(admin, await pepperOf(), keyId, request),
    async make(requests) {
      const pepper = await pepperOf()
      return requests.map((request) => newKey(pepper, request))
    },
  }
}
