/** An append between whose steps something happens: another node commits, or an answer does not arrive (D14, P6). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { appender } from '../../src/events/postgres/append/append.ts'
import type { Appender } from '../../src/events/postgres/append/append.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import type { Database } from '../../src/sql/postgres/connection.ts'
import type { Row, Session, Statement } from '../../src/sql/postgres/session.ts'
import { feedStateCache } from '../../src/events/postgres/append/feed-state-cache.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantB } from '../store/support/drafts.ts'
import { list, publish, receipt } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { putGates } from './support/gates.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

interface Interference {
  /** Before a statement is sent. */
  readonly before?: (statement: Statement) => Promise<void>
  /** When a statement has been answered. */
  readonly after?: (statement: Statement) => void
  readonly afterCommit?: () => void
}

describe('an append', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  interface Place extends AsyncDisposable {
    readonly url: string
    readonly other: StorageEngine
    disturbed(interference: Interference): Appender
  }

  async function place(): Promise<Place> {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 1, create: true } as const
    const other = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    const database = connect({ url, readConnections: 1 })
    return {
      url,
      other,
      disturbed: (interference) =>
        appender(disturbedDatabase(database, interference), {
          catalogue: catalogues.default,
          clockToleranceTicks: undefined,
          now: () => undefined,
          feedStates: feedStateCache(),
          historyOf: () => '',
          observer: { retried: () => undefined },
          vouch: () => Promise.resolve(true),
        }),
      async [Symbol.asyncDispose]() {
        await database.close()
        await other.close()
      },
    }
  }

  it('that another node was sent as well, and stores between two looks of this one, is a repeat (D14)', async () => {
    for (const verb of ['append', 'preview'] as const) {
      await using site = await place()
      await publish(site.other, [draft({ subject: 'p', category: 'sales' })])
      const move = batch([draft({ subject: 'p', category: 'lettings', id: 'move' })])
      let looks = 0
      const one = site.disturbed({
        async before({ name }) {
          if (name !== 'append-look-up') return
          looks += 1
          if (looks === 2) receipt((await site.other.events.append([move]))[0])
        },
      })
      const outcome = verb === 'append' ? (await one.append([move]))[0] : await one.preview(move)
      assert.deepEqual(
        receipt(outcome).map(({ status, stored }) => [status, stored?.sequenceNumber]),
        [
          ['repeated', 2],
          ['repeated', 3],
        ],
      )
      assert.equal((await list(site.other)).length, 3)
    }
  })

  it('is refused if its derived id is really taken, after no more than two looks (D14)', async () => {
    await using site = await place()
    const move = draft({ subject: 'p', category: 'lettings', id: 'move' })
    await publish(site.other, [draft({ subject: 'p', category: 'sales' })])
    const [derived] = await publish(site.other, [move])
    const elsewhere = { key: feedKey(tenantB) }
    const taker = { ...draft({ subject: 'p', category: 'sales', id: 'taker' }), id: derived?.id ?? '' }
    await publish(site.other, [taker], elsewhere)
    let looks = 0
    const one = site.disturbed({
      async before({ name }) {
        if (name === 'append-look-up') looks += 1
      },
    })
    assert.equal((await one.append([batch([move], elsewhere)]))[0]?.kind, 'idConflict')
    assert.equal(looks, 4, 'each look asks for the derived id with a second question')
  })

  it('that was stored though its answer was lost leaves the last payload current (P1, P6)', async () => {
    await using site = await place()
    await publish(site.other, [draft({ subject: 'p', text: 'a' })])
    let lost = 0
    const one = site.disturbed({
      after({ name }) {
        if (name.startsWith('append-event') && (lost += 1) === 1) throw connectionLoss()
      },
    })
    const sent = [draft({ subject: 'p', text: 'a' }), draft({ subject: 'p', text: 'b' })]
    const lines = receipt((await one.append([batch(sent, { unchanged: 'skip' })]))[0])
    assert.deepEqual(
      lines.map(({ status, stored }) => [status, stored?.sequenceNumber]),
      [
        ['unchanged', 1],
        ['appended', 2],
      ],
    )
    assert.deepEqual(
      (await list(site.other)).map(({ payload }) => /"text":"(.)"/.exec(payload)?.[1]),
      ['a', 'b'],
    )
  })

  it('is reported as stored if it took the counters first and the answer to its commit was lost (P6)', async () => {
    await using site = await place()
    await using gates = await putGates(site.url)
    await gates.query('CREATE SEQUENCE plans')
    await gates.wrapAppend(
      (call) => `IF nextval('plans') < 4 THEN
          RETURN QUERY SELECT 'stale'::text, '{}'::bigint[], '{}'::bigint[], '{}'::bigint[];
        ELSE RETURN QUERY ${call}; END IF;`,
    )
    let commits = 0
    const one = site.disturbed({
      afterCommit() {
        commits += 1
        if (commits === 1) throw connectionLoss()
      },
    })
    const [line] = receipt((await one.append([batch([draft({ subject: 'p' })])]))[0])
    assert.deepEqual([line?.status, line?.stored?.sequenceNumber], ['appended', 1])
    assert.equal((await list(site.other)).length, 1)
  })
})

function disturbedDatabase(database: Database, { before, after, afterCommit }: Interference): Database {
  const disturbed = (session: Session): Session => ({
    ...session,
    async query<R extends Row>(statement: Statement, values: Parameters<Session['query']>[1]) {
      await before?.(statement)
      const rows = await session.query<R>(statement, values)
      after?.(statement)
      return rows
    },
  })
  return {
    ...database,
    write: (run, lockWaitMs) => database.write((session) => run(disturbed(session)), lockWaitMs),
    async transaction(run, lockWaitMs) {
      const result = await database.transaction((session) => run(disturbed(session)), lockWaitMs)
      afterCommit?.()
      return result
    },
  }
}

function connectionLoss(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}
