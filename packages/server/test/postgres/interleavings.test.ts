/** Nodes held at every point of an append while others go on: the schedules that break engines, one by one. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { catalogues, parseCreatedDate } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { feedNumbers } from '../../src/sql/database.ts'
import type { AppendedEvent } from '../../src/events/append/append-batch.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantA, tenantB } from '../store/support/drafts.ts'
import { codes, list, located, numbers, publish, receipt } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { ticks } from '../store/support/test-clock.ts'
import { until } from '../support/until.ts'
import { putGates } from './support/gates.ts'
import type { GatePoint, Gates } from './support/gates.ts'
import { holdFeed } from './support/hold-feed.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

interface Site extends AsyncDisposable {
  readonly url: string
  readonly gates: Gates
  node(name: string): Promise<StorageEngine>
}

const pending = Symbol('pending')

/** What a promise has come to by now. */
async function soFar<T>(promise: Promise<T>, ms = 60): Promise<T | typeof pending> {
  return Promise.race([promise, new Promise<typeof pending>((resolve) => setTimeout(resolve, ms, pending))])
}

describe('nodes that overtake each other', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  async function site(): Promise<Site> {
    const url = await databases.create()
    const first = await openStorage({ kind: 'postgres', url, create: true, catalogue: catalogues.default })
    await withTenants(first)
    await first.close()
    const gates = await putGates(url)
    const nodes: StorageEngine[] = []
    return {
      url,
      gates,
      async node(name) {
        const options = {
          kind: 'postgres',
          url: gates.urlOf(name),
          readConnections: 2,
          create: false,
        } as const
        const node = await openStorage(options)
        nodes.push(node)
        return node
      },
      async [Symbol.asyncDispose]() {
        await gates[Symbol.asyncDispose]()
        for (const node of nodes) await node.close()
      },
    }
  }

  it('derive one appearance from two first events of a subject, wherever one of them is held (D12)', async () => {
    for (const point of ['lock', 'stamp', 'commit'] as const) {
      await using place = await site()
      const [one, two] = [await place.node('one'), await place.node('two')]
      await place.gates.close('one', point)
      const held = publish(one, [draft({ subject: 'p', text: 'one' })])
      await place.gates.reached('one', point)
      const other = publish(two, [draft({ subject: 'p', text: 'two' })])
      if (point === 'lock') await other
      else assert.equal(await soFar(other), pending, 'waits for the counter')
      await place.gates.open('one', point)
      await Promise.all([held, other])
      assert.deepEqual(codes(await list(one)), ['PropertyPublished', 'PropertyUpdated'], `held at ${point}`)
    }
  })

  it('store an event that both were sent once, and refuse other content (D14, P6)', async () => {
    await using place = await site()
    const [one, two, three] = [await place.node('one'), await place.node('two'), await place.node('three')]
    const sent = draft({ subject: 'p', id: 'e', text: 'same' })
    await place.gates.close('one', 'commit')
    const held = publish(one, [sent])
    await place.gates.reached('one', 'commit')
    const again = publish(two, [sent])
    const clash = three.events.append([batch([draft({ subject: 'p', id: 'e', text: 'other' })])])
    assert.equal(await soFar(Promise.race([again, clash])), pending)
    await place.gates.open('one', 'commit')
    const [[first], [repeat]] = [await held, await again]
    assert.deepEqual([first?.status, repeat?.status], ['appended', 'repeated'])
    assert.deepEqual(repeat?.stored, first?.stored)
    assert.equal((await clash)[0]?.kind, 'idConflict')
    assert.equal((await list(two)).length, 1)
  })

  it('keep a poll by time waiting for a stamped event, and nothing else (P3)', async () => {
    for (const point of ['stamp', 'commit'] as const) {
      await using place = await site()
      const [one, two, three] = [await place.node('one'), await place.node('two'), await place.node('three')]
      const [before] = await publish(one, [draft({ subject: 'before' })])
      const afterHead = { from: ticks(before?.stored?.createdDate ?? '') + 1n }
      // Its first poll reserves time, and asks twice.
      assert.equal((await list(three, afterHead)).length, 0)
      await place.gates.close('one', point)
      const held = publish(one, [draft({ subject: 'held' })])
      await place.gates.reached('one', point)
      const poll = list(two, { from: 0n })
      const pollAfterHead = list(three, afterHead)
      assert.equal(await soFar(Promise.race([poll, pollAfterHead])), pending, 'wait for the stamped event')
      assert.equal((await list(two)).length, 1, 'no window')
      assert.equal((await list(two, { to: 1n })).length, 0, 'a closed window')
      assert.equal((await list(two, { key: feedKey(tenantB), from: 0n })).length, 0, 'another feed')
      await place.gates.open('one', point)
      assert.equal((await poll).length, 2)
      assert.equal((await pollAfterHead).length, 1)
      await held
    }
  })

  it('answer a poll by time that finds nothing from the counter alone (P3)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    const [last] = await publish(one, [draft({ subject: 'Tŷ £250,000 – 🏡' })])
    const poll = { from: ticks(last?.stored?.createdDate ?? '') + 1n }
    await place.gates.query('ALTER TABLE event RENAME TO not_there')
    assert.deepEqual((await located(two, poll)).range, { key: feedKey(), view: 'all', first: 2, count: 0 })
    await assert.rejects(located(two, { from: poll.from - 1n }), { name: 'StorageFailure' })
    await place.gates.query('ALTER TABLE not_there RENAME TO event')
    assert.equal((await list(two, { from: poll.from - 1n })).length, 1)
  })

  it('mark a feed for a poll by time that met a commit, and never for those that find it idle (P3)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    await publish(one, [draft({ subject: 'before' })])
    await place.gates.close('one', 'commit')
    const held = publish(one, [draft({ subject: 'held' })])
    await place.gates.reached('one', 'commit')
    const poll = list(two, { from: 0n })
    assert.equal(await soFar(poll), pending)
    await place.gates.open('one', 'commit')
    await Promise.all([held, poll])
    const mark = () =>
      place.gates.query(`SELECT xmax::text FROM feed WHERE tenant = '${tenantA}' AND feed = 1`)
    const marked = await mark()
    for (let n = 0; n < 3; n += 1) assert.equal((await list(two, { from: 0n })).length, 2)
    assert.deepEqual(await mark(), marked, 'nothing was written for the feed')
  })

  it('are waited for as before on a counter that polls have locked together, or an append that came to nothing (P3)', async () => {
    await using place = await site()
    const [one, two, three] = [await place.node('one'), await place.node('two'), await place.node('three')]
    await publish(one, [draft({ subject: 'before' })])
    const held = async (point: GatePoint, count: number, name: string): Promise<void> => {
      await place.gates.close('one', point)
      const published = publish(one, [draft({ subject: name })])
      await place.gates.reached('one', point)
      const polls = [list(two, { from: 0n }), list(three, { from: 0n }), list(two, { from: 0n })]
      assert.equal(await soFar(Promise.race(polls)), pending, `${name}: waits for the stamped event`)
      await place.gates.open('one', point)
      for (const events of await Promise.all(polls)) assert.ok(events.length >= count, name)
      await published
    }
    await held('commit', 2, 'after an append')
    await held('stamp', 3, 'after polls that waited together')
    const locked = `SELECT FROM feed WHERE tenant = '${tenantA}' AND feed = 1 FOR NO KEY UPDATE`
    await place.gates.query(`BEGIN; ${locked}; COMMIT`)
    const mark = () =>
      place.gates.query(`SELECT xmax::text FROM feed WHERE tenant = '${tenantA}' AND feed = 1`)
    const marked = await mark()
    assert.equal((await list(two, { from: 0n })).length, 3, 'a lock without a write')
    assert.deepEqual(await mark(), marked, 'nothing was written for the feed')
    await held('stamp', 4, 'after a lock without a write')
  })

  it('stamp behind a poll that was answered while they waited for the counter (P3)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    await place.gates.close('one', 'lock')
    const held = publish(one, [draft({ subject: 'p' })])
    await place.gates.reached('one', 'lock')
    const asked = BigInt(Date.now()) * 10_000n
    assert.equal((await list(two, { from: 0n })).length, 0)
    await place.gates.open('one', 'lock')
    await held
    assert.equal((await list(two, { from: asked })).length, 1)
  })

  it('leave no hole and no trace of a node that dies before its commit (P1, P6)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    await publish(one, [draft({ subject: 'a' })])
    await place.gates.close('one', 'commit')
    const held = publish(one, [draft({ subject: 'b', id: 'b' }), draft({ subject: 'c', id: 'c' })])
    await place.gates.reached('one', 'commit')
    const other = publish(two, [draft({ subject: 'd' })])
    await place.gates.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
    )
    assert.equal((await other)[0]?.stored?.sequenceNumber, 2)
    await place.gates.open('one', 'commit')
    // The connection was lost, not the request: it is tried again, and what it says is true.
    const lines: readonly AppendedEvent[] = await held
    assert.deepEqual(
      lines.map((line) => [line.status, line.stored?.sequenceNumber]),
      [
        ['appended', 3],
        ['appended', 4],
      ],
    )
    assert.deepEqual(numbers(await list(two)), [1, 2, 3, 4])
  })

  it('do not wait for each other in different feeds (P1)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    await place.gates.close('one', 'commit')
    const held = publish(one, [draft({ subject: 'p' })])
    await place.gates.reached('one', 'commit')
    await publish(two, [draft({ subject: 'p' })], { key: feedKey(tenantB) })
    await publish(two, [draft({ subject: 'p' })], { key: feedKey(tenantA, 'contact') })
    await place.gates.open('one', 'commit')
    await held
  })

  it('take counters in one order: two that are given feeds in opposite orders wait, but never for each other (P1)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    const [first, middle, last] = [feedKey(tenantA), feedKey(tenantA, 'contact'), feedKey(tenantB)].toSorted(
      (a, b) => (`${a.tenantId} ${feedNumbers[a.feed]}` < `${b.tenantId} ${feedNumbers[b.feed]}` ? -1 : 1),
    )
    assert.ok(first && middle && last)
    const batchesOf = (name: string, keys: readonly FeedKey[]) =>
      keys.map((key) => batch([draft({ subject: name })], { key }))
    const waiting = async (lockers: number): Promise<void> =>
      until(async () => {
        const rows = await place.gates.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%append_events%' AND pid <> pg_backend_pid()`,
        )
        return rows.length === lockers
      })
    const held = await holdFeed(place.url, middle)
    // It has the first and waits for the middle one; the other would have the last, and they would wait in a circle.
    const there = one.events.append(batchesOf('one', [first, middle, last]))
    await waiting(1)
    const back = two.events.append(batchesOf('two', [last, first]))
    await waiting(2)
    await held.release()
    for (const outcomes of await Promise.all([there, back])) {
      assert.ok(outcomes.every(({ kind }) => kind === 'stored'))
    }
    assert.deepEqual(
      await place.gates.query(
        'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
      ),
      [{ deadlocks: 0 }],
    )
  })

  it('stamp after a poll by a microsecond at least, which is what the clock counts in (P3)', async () => {
    await using place = await site()
    const one = await place.node('one')
    // A clock that stands still.
    const now = 18_000_000_000_000_000n
    await place.gates.query(
      `CREATE OR REPLACE FUNCTION now_ticks() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ${now}'`,
    )
    assert.deepEqual(await list(one, { from: now - 1n }), [])
    const [line] = await publish(one, [draft({ subject: 'p' })])
    const created = parseCreatedDate(line?.stored?.createdDate ?? '')
    assert.ok(created !== undefined && created >= now + 10n, `stamped ${String(created)}`)
  })

  it('never wait in a circle, whatever order they were given feeds in (P1)', async () => {
    await using place = await site()
    const [one, two] = [await place.node('one'), await place.node('two')]
    const keys = [
      feedKey(tenantA),
      feedKey(tenantB),
      feedKey(tenantA, 'contact'),
      feedKey(tenantB, 'contact'),
    ]
    const rounds = Array.from({ length: 15 }, async (_, n) => {
      const there = keys.map((key) => batch([draft({ subject: `one ${n}` })], { key }))
      const back = keys.toReversed().map((key) => batch([draft({ subject: `two ${n}` })], { key }))
      await Promise.all([one.events.append(there), two.events.append(back)])
    })
    await Promise.all(rounds)
    for (const key of keys) assert.equal((await list(one, { key })).length, 30)
  })

  it('publish in the end, though their plans are overtaken again and again (P1)', async () => {
    await using place = await site()
    const one = await place.node('one')
    await place.gates.query('CREATE SEQUENCE plans')
    // Every plan made without the counters in hand is told that it is stale.
    await place.gates.wrapAppend(
      (call) => `
        IF nextval('plans') < 4 THEN
          RETURN QUERY SELECT 'stale'::text, '{}'::bigint[], '{}'::bigint[], '{}'::bigint[];
        ELSIF NOT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'feed'::regclass
          AND mode = 'RowShareLock') THEN
          RAISE 'the counters are not in hand';
        ELSE RETURN QUERY ${call}; END IF;`,
    )
    const [line] = receipt((await one.events.append([batch([draft({ subject: 'p' })])]))[0])
    assert.equal(line?.stored?.sequenceNumber, 1)
  })

  it('keep every promise under random schedules of three nodes (P1, P2, P3, D12)', async () => {
    await using place = await site()
    const names = ['one', 'two', 'three'] as const
    const nodes = await Promise.all(names.map((name) => place.node(name)))
    const points: readonly GatePoint[] = ['lock', 'stamp', 'commit']
    let runs = 0
    const schedule = fc.record({
      closed: fc.uniqueArray(
        fc.tuple(fc.nat(2), fc.nat(2)).map(([node, point]) => node * 3 + point),
        { maxLength: 5 },
      ),
      pauses: fc.array(fc.nat(8), { minLength: 5, maxLength: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(schedule, async ({ closed, pauses }) => {
        runs += 1
        const tenantId = `00000000-0000-4000-8000-${String(runs).padStart(12, '0')}`
        await nodes[0]?.tenants.createTenant(
          { tenantId, name: tenantId, createdMs: 0, suspended: false },
          'cli:test',
        )
        const key = feedKey(tenantId)
        const gates = closed.map((n) => [names[Math.floor(n / 3)] ?? 'one', points[n % 3] ?? 'lock'] as const)
        for (const [node, point] of gates) await place.gates.close(node, point)
        const asked = BigInt(Date.now()) * 10_000n
        const appends = nodes.map((node) =>
          publish(node, [draft({ subject: 'p' }), draft({ subject: 'q' })], { key }),
        )
        const polls: { readonly askedMs: number; readonly seen: Promise<readonly FeedEvent[]> }[] = []
        const pollAll = (): void => {
          for (const node of nodes)
            polls.push({ askedMs: Date.now(), seen: list(node, { key, from: asked }) })
        }
        pollAll()
        for (const [index, [node, point]] of gates.entries()) {
          await new Promise((resolve) => setTimeout(resolve, pauses[index] ?? 0))
          pollAll()
          await place.gates.open(node, point)
        }
        const given = (await Promise.all(appends)).flatMap((lines) =>
          lines.map((line) => line.stored?.sequenceNumber),
        )
        assert.deepEqual(
          given.toSorted((a = 0, b = 0) => a - b),
          [1, 2, 3, 4, 5, 6],
        )
        const events = await list(nodes[0] ?? assert.fail(), { key })
        const expected = [
          'PropertyPublished',
          'PropertyPublished',
          ...Array<string>(4).fill('PropertyUpdated'),
        ]
        assert.deepEqual(codes(events), expected)
        const times = events.map((event) => event.createdDate)
        assert.deepEqual(times, times.toSorted())
        for (const { askedMs, seen: answer } of polls) {
          const seen = await answer
          assert.deepEqual(numbers(seen), numbers(events).slice(0, seen.length), 'a prefix')
          for (const { sequenceNumber, createdDate } of events.slice(seen.length)) {
            const late = `${sequenceNumber} is stamped before it was asked for at ${askedMs}, and was not shown`
            assert.ok(Date.parse(`${createdDate.slice(0, 23)}Z`) >= askedMs, late)
          }
        }
      }),
      { numRuns: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 500 : 40 },
    )
  })
})
