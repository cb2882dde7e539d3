/** Names of actors. */
import { actorNamed, nameErased } from '../../audit/changes.ts'
import type { ActorName, NameStore } from '../name-store.ts'
import { texts } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Row, Statement } from './connection.ts'

const selectOf: Statement = {
  name: 'names-of',
  text: 'SELECT actor, name FROM actor_name WHERE actor = ANY ($1::text[])',
}
const selectAll: Statement = {
  name: 'names',
  text: 'SELECT actor, name FROM actor_name ORDER BY actor COLLATE "C"',
}
const put: Statement = {
  name: 'name-put',
  text: `INSERT INTO actor_name AS held (actor, name) VALUES ($1, $2)
    ON CONFLICT (actor) DO UPDATE SET name = excluded.name WHERE held.name <> excluded.name RETURNING actor`,
}
const remove: Statement = {
  name: 'name-remove',
  text: 'DELETE FROM actor_name WHERE actor = $1 RETURNING actor',
}

export function databaseNames(database: Database, note: NoteChanges): NameStore {
  return {
    set: ({ actor, name }, by) =>
      database.transaction(async (session) => {
        const changed = await session.query(put, [actor, name])
        if (changed.length > 0) await note(session, actorNamed(actor), by)
      }),
    erase: (actor, by) =>
      database.transaction(async (session) => {
        if ((await session.query(remove, [actor])).length === 0) return 'unknown'
        await note(session, nameErased(actor), by)
        return 'erased'
      }),
    async of(actors) {
      if (actors.length === 0) return new Map()
      const rows = await database.read<ActorName & Row>(selectOf, [texts(actors)])
      return new Map(rows.map(({ actor, name }) => [actor, name]))
    },
    async list() {
      const rows = await database.read<ActorName & Row>(selectAll, [])
      return rows.map(({ actor, name }) => ({ actor, name }))
    },
  }
}
