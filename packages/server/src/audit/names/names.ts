/**
 * The port's part for names of actors (docs/decisions/0039): apart from the audit, whose rows never change, so that a name can be erased.
 */
import type { Actor } from '../actor.ts'

export interface ActorName {
  /** As in rows of the audit: `key:…`, `cli:…`. */
  readonly actor: string
  /** For people. It may be a person's. */
  readonly name: string
}

export interface NameStore {
  /** The audit is shown with this name from now on. It records that the name was given, but not the name. */
  set(name: ActorName, by: Actor): Promise<void>
  /** Removes the name; the rows of the audit stay as they are. `unknown`: the actor has none. */
  erase(actor: string, by: Actor): Promise<'erased' | 'unknown'>
  /** The names of those of the actors that have one. */
  of(actors: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** All names, by actor. */
  list(): Promise<readonly ActorName[]>
}

/** Whether an actor can have a name: any actor except the service itself. */
export function isNamedActor(text: string): boolean {
  return /^(?:key|cli):[A-Za-z0-9._-]{1,100}$/.test(text)
}
