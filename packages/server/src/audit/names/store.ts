/** Names of actors in a database. */
import { defineWrite, rowsFrom, statement } from '../../sql/database.ts'
import type { StoreAccess } from '../../sql/database.ts'
import type { Actor } from '../actor.ts'
import { actorNamed, nameErased } from '../changes.ts'
import type { ActorName, NameStore } from './names.ts'

const all = statement<ActorName>('name-list', 'SELECT actor, name FROM actor_name ORDER BY actor')
const ofActors = statement<ActorName>(
  'name-of',
  (dialect) =>
    `SELECT actor, name FROM actor_name WHERE actor IN (SELECT actor FROM ${rowsFrom('$1', { actor: 'text' })(dialect)})`,
)
/** Both return a row if something has changed. */
const put = statement(
  'name-put',
  `INSERT INTO actor_name (actor, name) VALUES ($1, $2)
    ON CONFLICT (actor) DO UPDATE SET name = excluded.name WHERE actor_name.name <> excluded.name RETURNING actor`,
)
const remove = statement('name-remove', 'DELETE FROM actor_name WHERE actor = $1 RETURNING actor')

const setName = defineWrite('name-set', async (tx, { actor, name }: ActorName, by: Actor) => {
  if ((await tx.rows(put(actor, name))).length > 0) await tx.note(actorNamed(actor), by)
})

const eraseName = defineWrite('name-erase', async (tx, actor: string, by: Actor) => {
  if ((await tx.rows(remove(actor))).length === 0) return 'unknown'
  await tx.note(nameErased(actor), by)
  return 'erased'
})

export function nameStore({ read, write }: StoreAccess): NameStore {
  return {
    set: (name, by) => write(setName, name, by),
    erase: (actor, by) => write(eraseName, actor, by),
    async of(actors) {
      if (actors.length === 0) return new Map()
      const rows = await read.rows(ofActors(JSON.stringify(actors.map((actor) => ({ actor })))))
      return new Map(rows.map(({ actor, name }) => [actor, name]))
    },
    list: () => read.rows(all()),
  }
}
