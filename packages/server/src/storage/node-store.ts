/** The port's part for the nodes that serve one store, and what they have to agree on: the pepper of keys (D11). */
import type { Actor } from './audit-store.ts'

export interface NodeAnnouncement {
  /** Random, another one with each start. */
  readonly nodeId: string
  /** Where it runs, for people: the machine's name and the process id. */
  readonly place: string
  /** Of all peppers it knows. */
  readonly pepperIds: readonly string[]
}

export interface LiveNode extends NodeAnnouncement {
  /** Since it last announced itself, by the store's clock. */
  readonly silentMs: number
}

/** A node announces itself four times in this while; one that has been silent for longer is taken for gone. */
export const nodeSilenceMs = 60_000

export interface NodeStore {
  /** Says that the node lives. Said again now and then, and by `retire` no more. */
  announce(node: NodeAnnouncement): Promise<void>
  retire(nodeId: string): Promise<void>
  /** Those that announced themselves less than `nodeSilenceMs` ago. */
  live(): Promise<readonly LiveNode[]>
  /** The pepper that new keys are made with, once `finishPepper` has said so. */
  pepperId(): Promise<string | undefined>
  /**
   * From now on new keys are made with this pepper, and old ones are hashed with it when they are next used. Refused, with
   * the nodes it would lock out, while a live node does not know it.
   */
  finishPepper(pepperId: string, actor: Actor): Promise<FinishOutcome>
}

export type FinishOutcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'lacking'; readonly nodes: readonly LiveNode[] }
