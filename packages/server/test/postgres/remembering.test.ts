/** What a node remembers of its own commits saves it reading, and never shows in an answer (decision 0005). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { catalogues } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { AppendOutcome } from '../../src/events/append/append-batch.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, removal, tenantA, tenantB, uuid } from '../store/support/drafts.ts'
import { codes, list, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { putGates } from './support/gates.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'
import { temporaryStore } from '../support/temporary-store.ts'

describe('a node that remembers what it has published', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  async function nodes(): Promise<{ url: string; one: StorageEngine; two: StorageEngine } & AsyncDisposable> {
    const url = await databases.create()
    const options = { kind: 'postgres', url, readConnections: 2, create: true } as const
    const one = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
    const two = await openStorage(options)
    return {
      url,
      one,
      two,
      async [Symbol.asyncDispose]() {
        await one.close()
        await two.close()
      },
    }
  }

  it('reads nothing before it appends to subjects it has published, in one round trip (D2)', async () => {
    await using place = await nodes()
    const { url, one } = place
    const keys = [feedKey(tenantA), feedKey(tenantB), feedKey(tenantA, 'contact')]
    for (const key of keys) await publish(one, [draft({ subject: 'p' }), draft({ subject: 'q' })], { key })
    await withClient(url, (client) => client.query('ALTER FUNCTION look_up RENAME TO not_there'))
    for (const key of keys) {
      await publish(one, [draft({ subject: 'p' })], { key })
      await publish(one, [draft({ subject: 'q' }), draft({ subject: 'p' })], { key })
    }
    await one.events.append(keys.map((key) => batch([draft({ subject: 'p' })], { key })))
    await assert.rejects(publish(one, [draft({ subject: 'r' })]), { name: 'StorageFailure' })
    for (const key of keys) assert.deepEqual(numbers(await list(one, { key })), [1, 2, 3, 4, 5, 6])
  })

  it('agrees with other nodes on the spelling of a subject, whichever publishes its first event (D15)', async () => {
    await using place = await nodes()
    const { one, two } = place
    const subjects = Array.from({ length: 12 }, (_, index) => `s${index}`)
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        subjects.flatMap((subject) => {
          const text = `${round}`
          return [
            publish(one, [draft({ subject, spelling: uuid(subject).toUpperCase(), text })]),
            publish(two, [draft({ subject, text })]),
          ]
        }),
      )
    }
    const bySubject = Map.groupBy(await list(one), ({ transactionId }) => transactionId.toLowerCase())
    assert.equal(bySubject.size, subjects.length)
    for (const events of bySubject.values()) {
      const payload: { agent_ref: string } = JSON.parse(events[0]?.payload ?? '')
      assert.deepEqual(
        events.map(({ transactionId }) => transactionId),
        Array(6).fill(payload.agent_ref),
      )
    }
  })

  it('reads only the payloads that a removal or a move to another category builds on (D23, D26)', async () => {
    await using place = await nodes()
    const { url, one } = place
    await publish(one, [draft({ subject: 'p', text: 'a' }), draft({ subject: 'q', text: 'b' })])
    await withClient(url, (client) => client.query('ALTER FUNCTION look_up RENAME TO not_there'))
    const moved = await publish(one, [draft({ subject: 'p', category: 'lettings', text: 'c' })])
    assert.deepEqual(
      moved.map(({ status }) => status),
      ['derived', 'appended'],
    )
    await publish(one, [removal({ subject: 'q' }), removal({ subject: 'p' })])
    const texts = (await list(one)).map(({ payload }) =>
      /"published":(\w+),"text":"(.)"/.exec(payload)?.slice(1),
    )
    const [on, off] = ['true', 'false']
    assert.deepEqual(texts, [
      [on, 'a'],
      [on, 'b'],
      [off, 'a'],
      [on, 'c'],
      [off, 'b'],
      [off, 'c'],
    ])
  })

  it('stores what goes back to an earlier payload in another spelling, if another node has changed it since (D14)', async () => {
    await using place = await nodes()
    const { one, two } = place
    const spelled = (price: string) => ({
      subject: 'p',
      json: `{"agent_ref":"${uuid('p')}","published":true,"price":${price},"text":"Tŷ – £"}`,
    })
    const skip = { unchanged: 'skip' } as const
    await publish(one, [draft(spelled('450000'))])
    await publish(two, [draft(spelled('440000'))])
    // To the first node, this would be unchanged: it remembers the first payload.
    const [line] = await publish(one, [draft(spelled('450000.00'))], skip)
    assert.deepEqual([line?.status, line?.stored?.sequenceNumber], ['appended', 3])
    const [next] = await publish(one, [draft(spelled('4.5e5'))], skip)
    assert.deepEqual([next?.status, next?.stored?.sequenceNumber], ['unchanged', 3])
  })

  it('gives the true answer, whatever another node has published about the subject since (D12, D26, P6)', async () => {
    await using place = await nodes()
    const { one, two } = place
    await publish(one, [draft({ subject: 'p', text: 'a' })])
    await publish(two, [draft({ subject: 'p', text: 'b' })])
    const [stored] = await publish(one, [draft({ subject: 'p', text: 'a' })], { unchanged: 'skip' })
    assert.equal(stored?.status, 'appended', 'not what it was when this node published it')
    await publish(two, [removal({ subject: 'p' }, 'sold')])
    const [again] = await publish(one, [draft({ subject: 'p' })])
    assert.equal(again?.eventTypeShortCode, 'PropertyPublished')
    await publish(two, [draft({ subject: 'p', text: 'c' })])
    const [unchanged] = await publish(one, [draft({ subject: 'p', text: 'c' })], { unchanged: 'skip' })
    assert.equal(unchanged?.status, 'unchanged')
    await publish(two, [draft({ subject: 'p', id: 'e', text: 'd' })])
    const [repeat] = await publish(one, [draft({ subject: 'p', id: 'e', text: 'd' })])
    assert.equal(repeat?.status, 'repeated')
    const [clash] = await one.events.append([batch([draft({ subject: 'p', id: 'e', text: 'other' })])])
    assert.equal(clash?.kind, 'idConflict')
    await publish(one, [draft({ subject: 'p', text: 'e' })])
    await publish(two, [draft({ subject: 'q', id: 'f' })])
    const [taken] = await one.events.append([batch([draft({ subject: 'p', id: 'f' })])])
    assert.equal(taken?.kind, 'idConflict', 'by an event of another subject')
    const names = 'Published Updated Updated Unpublished Published Updated Updated Updated Published'
    assert.deepEqual(
      codes(await list(two)),
      names.split(' ').map((name) => `Property${name}`),
    )
  })

  it('decides on a removal and an unchanged payload by what is stored, not by what it remembers (D26)', async () => {
    await using place = await nodes()
    const { url, one } = place
    await publish(one, [draft({ subject: 'p', text: 'a' })])
    // As another node would have it, without the position that gives it away.
    await withClient(url, (client) =>
      client.query(`UPDATE subject SET payload_hash = NULL WHERE subject = '${uuid('p')}'`),
    )
    const [line] = await publish(one, [draft({ subject: 'p', text: 'a' })], { unchanged: 'skip' })
    assert.equal(line?.status, 'appended', 'an answer that stores nothing is read, not remembered')
  })

  it('forgets a feed when it hears that another node has published to it, and calls once (P8)', async () => {
    await using place = await nodes()
    const { url, one, two } = place
    const heard: (string | undefined)[] = []
    one.events.watch((key) => heard.push(key?.tenantId))
    await until(() => heard.length > 0)
    await publish(one, [draft({ subject: 'p' })])
    const before = heard.length
    await publish(two, [draft({ subject: 'p' })])
    await until(() => heard.length > before)
    await using gates = await putGates(url)
    await gates.query('CREATE SEQUENCE calls')
    await gates.wrapAppend((call) => `PERFORM nextval('calls'); RETURN QUERY ${call};`)
    await publish(one, [draft({ subject: 'p' })])
    assert.deepEqual(await gates.query('SELECT last_value::int AS calls FROM calls'), [{ calls: 1 }])
  })

  it('forgets everything when its connections break, because the database may have another history (D13)', async () => {
    await using place = await nodes()
    const { url, one } = place
    await publish(one, [draft({ subject: 'p' })])
    // Another history, as far as the node can tell: the same position, and another state.
    await using gates = await putGates(url)
    await gates.query(`UPDATE subject SET published = false WHERE subject = '${uuid('p')}'`)
    await gates.query('CREATE SEQUENCE calls')
    await gates.wrapAppend(
      (call) => `IF nextval('calls') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN QUERY ${call};`,
    )
    const [line] = await publish(one, [draft({ subject: 'p' })])
    assert.equal(line?.eventTypeShortCode, 'PropertyPublished')
  })

  it('answers as the reference does, whichever node has published to the feed before (P12, D12)', async () => {
    await using place = await nodes()
    const reference = await temporaryStore()
    const sent = fc.record({
      subject: fc.constantFrom('p', 'p', 'q'),
      id: fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined, freq: 2 }),
      text: fc.constantFrom('a', 'b'),
      published: fc.boolean(),
      category: fc.constantFrom('sales', 'lettings', undefined, undefined),
      removed: fc.constantFrom(true, false, false, false),
    })
    const request = fc.record({
      node: fc.constantFrom(place.one, place.two),
      unchanged: fc.constantFrom('store', 'skip'),
      sent: fc.array(sent, { minLength: 1, maxLength: 2 }),
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 4, maxLength: 15 }), async (requests) => {
        runs += 1
        const tenantId = uuid(`run ${runs}`)
        for (const store of [reference, place.one]) {
          await store.tenants.createTenant(
            { tenantId, name: tenantId, createdMs: 0, suspended: false },
            'cli:test',
          )
        }
        for (const { node, unchanged, sent } of requests) {
          const drafts = sent.map(({ id, category, removed, ...words }) => {
            const given = {
              ...words,
              ...(id === undefined ? {} : { id }),
              ...(category === undefined ? {} : { category }),
            }
            return removed ? removal(given) : draft(given)
          })
          const asked = batch(drafts, { key: feedKey(tenantId), unchanged })
          const [ours, theirs] = [await node.events.append([asked]), await reference.events.append([asked])]
          assert.deepEqual(ours.map(withoutTimes), theirs.map(withoutTimes))
        }
        const [ours, theirs] = [place.two, reference].map((store) => list(store, { key: feedKey(tenantId) }))
        assert.deepEqual((await ours)?.map(stampless), (await theirs)?.map(stampless))
      }),
      { numRuns: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 1_000 : 100 },
    )
    await reference.close()
  })

  it('appends one event as it appends it among others, byte for byte (P12)', async () => {
    const [ones, lists] = await Promise.all(
      [1, 2].map(async (size) => {
        const url = await databases.create()
        const clock = new BigInt64Array(new SharedArrayBuffer(8)).fill(17_000_000_000_000_000n)
        const options = { kind: 'postgres', url, readConnections: 2, create: true, clock } as const
        await using store = await withTenants(
          await openStorage({ ...options, catalogue: catalogues.default }),
        )
        const key = feedKey()
        const drafts = [
          draft({ subject: 'p', id: '1', requestedCreated: 16_000_000_000_000_000n }),
          draft({ subject: 'q', id: '2', branch: 'north', implied: 'lettings' }),
          draft({ subject: 'p', id: '3', published: false, requestedCreated: 17_000_000_100_000_000n }),
          draft({ subject: 'q', id: '4', text: '"\u{1f3e0}\\', branch: 'north', implied: 'lettings' }),
          draft({ subject: 'p', id: '5', type: 'PropertyPublished' }),
          draft({ subject: 'r', id: '6', requestedCreated: 1n }),
        ]
        for (let from = 0; from < drafts.length; from += size) {
          await publish(store, drafts.slice(from, from + size), { key })
        }
        return withClient(url, async (client) => {
          const tables = ['event', 'event_id', 'subject', 'view', 'view_entry']
          const contents: unknown[] = []
          for (const table of tables) {
            contents.push((await client.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`)).rows)
          }
          const feed = `SELECT last_position, last_sequence, last_created FROM feed ORDER BY tenant, feed`
          return [...contents, (await client.query(feed)).rows]
        })
      }),
    )
    assert.deepEqual(ones, lists)
  })
})

function stampless(event: FeedEvent): unknown {
  return { ...event, createdDate: '' }
}

function withoutTimes(outcome: AppendOutcome): unknown {
  if (outcome.kind !== 'stored') return outcome
  return outcome.events.map(({ stored, ...line }) => ({ ...line, number: stored?.sequenceNumber }))
}
