/** The port's part for names of actors (docs/decisions/0039): apart from the audit, whose rows never change, so that a name can be erased. */
import type { Actor } from './audit-store.ts'

export interface ActorName {
  /** As rows of the audit have it: `key:…`, `cli:…`. */
  readonly actor: string
  /** For people. It may be a person's. */
  readonly name: string
}

export interface NameStore {
  /** The audit is shown with this name from now on. That it was given is on record, and the name is not. */
  set(name: ActorName, by: Actor): Promise<void>
  /** The name goes; the rows of the audit stay as they are. `unknown`: the actor has none. */
  erase(actor: string, by: Actor): Promise<'erased' | 'unknown'>
  /** Of those of the actors that have one. */
  of(actors: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** All of them, by actor. */
  list(): Promise<readonly ActorName[]>
}

/** What a name may be of: an actor that is no node of the service itself. */
export function isNamedActor(text: string): boolean {
  return /^(?:key|cli):[A-Za-z0-9._-]{1,100}$/.test(text)
}
