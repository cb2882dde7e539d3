/** Names of actors: read on this thread, changed by the writer's. */
import { actorNamed, nameErased } from '../../audit/changes.ts'
import type { Actor } from '../../audit/audit.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { ActorName, NameStore } from '../name-store.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import type { WriterLink } from './writer-link.ts'

export interface NameWrites {
  setName(name: ActorName, by: Actor): void
  eraseName(actor: string, by: Actor): 'erased' | 'unknown'
}

export function fileNames(db: Connection, link: WriterLink): Unguarded<NameStore> {
  const find = db
    .prepare<[string], string>('SELECT name FROM actor_name WHERE actor = CAST(? AS TEXT)')
    .pluck()
  const select = db.prepare<[], ActorName>('SELECT actor, name FROM actor_name ORDER BY actor')
  return {
    set: (name, by) => link.call('setName', name, by),
    erase: (actor, by) => link.call('eraseName', actor, by),
    of: (actors) =>
      new Map(
        actors.flatMap((actor) => {
          const name = find.get(actor)
          return name === undefined ? [] : [[actor, name]]
        }),
      ),
    list: () => select.all(),
  }
}

export function nameWrites(db: Connection, note: NoteChanges): NameWrites {
  const put = db.prepare(
    `INSERT INTO actor_name (actor, name) VALUES (?, ?)
      ON CONFLICT (actor) DO UPDATE SET name = excluded.name WHERE name <> excluded.name`,
  )
  const remove = db.prepare('DELETE FROM actor_name WHERE actor = ?')
  const set = db.transaction(({ actor, name }: ActorName, by: Actor) => {
    if (put.run(actor, name).changes > 0) note(actorNamed(actor), by)
  })
  const erase = db.transaction((actor: string, by: Actor) => {
    if (remove.run(actor).changes === 0) return 'unknown'
    note(nameErased(actor), by)
    return 'erased'
  })
  return {
    setName: (name, by) => set.immediate(name, by),
    eraseName: (actor, by) => erase.immediate(actor, by),
  }
}
