/** The nodes that serve one store, and what they have to agree on: the pepper of keys (D11). */
import type { Actor } from '../audit/actor.ts'

export interface NodeAnnouncement {
  /** Random, new with each start. */
  readonly nodeId: string
  /** Where the node runs, for people: the machine's name and the process id. */
  readonly place: string
  /** The ids of all peppers it knows. */
  readonly pepperIds: readonly string[]
  /** Clients with valid keys reach it through a proxy (`X-Forwarded-For`, `Forwarded`), and it is configured to trust none. */
  readonly ignoresProxy: boolean
  /** Where people reach its console: the service's address, with the base path. Left out: it serves none. */
  readonly consoleUrl?: string
}

export interface LiveNode extends NodeAnnouncement {
  /** Time since it last announced itself, by the store's clock. */
  readonly silentMs: number
}

/** A node that has been silent for longer is considered gone, and may serve again with the peppers it had. */
export const nodeSilenceMs = 60_000

/** A node that has been silent for longer has no share of the rates of keys: the others have it (D10). */
export const shareSilenceMs = 7_000

export interface NodeStore {
  /** Whether several nodes may serve the store at the same time. Otherwise the process that holds it is alone. */
  readonly isShared: boolean
  /**
   * Announces that the node lives. Repeated now and then, until `retire`. Resolves with the number of nodes that share the rates of keys:
   * those that announced themselves less than `shareSilenceMs` ago, this one included. 1 if the store is not shared.
   */
  announce(node: NodeAnnouncement): Promise<number>
  retire(nodeId: string): Promise<void>
  /** The nodes that announced themselves less than `nodeSilenceMs` ago. */
  live(): Promise<readonly LiveNode[]>
  /** The pepper for new keys, once `finishPepper` has set it. */
  pepperId(): Promise<string | undefined>
  /**
   * From now on, new keys are made with this pepper, and old ones are hashed with it when they are next used. Refused, with the nodes it
   * would lock out, while a live node does not know it.
   */
  finishPepper(pepperId: string, actor: Actor): Promise<FinishOutcome>
}

export type FinishOutcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'lacking'; readonly nodes: readonly LiveNode[] }
