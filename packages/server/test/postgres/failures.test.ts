/** What a node does when its database, or the way there, is taken from it (P6, P7). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { StorageFailure } from '../../src/sql/storage-errors.ts'
import { draft, tenantA } from '../store/support/drafts.ts'
import { list, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { asNode, putGates } from './support/gates.ts'
import { loadThrough } from './support/load-through.ts'
import { startProxy } from './support/proxy.ts'
import { withClient } from './support/standby.ts'

const long = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const program = fileURLToPath(new URL('./support/acknowledge-process.ts', import.meta.url))
/** Shorter than a service would have them, so that a test does not wait for 30 s. */
const limits = { connectTimeoutMs: 1_000, readTimeoutMs: 1_000, writeTimeoutMs: 2_000 }
/** The longest a request may take with them: retries of a lost connection, and one time-out at the end. */
const neverLongerMs = 20_000

describe('a database in trouble', () => {
  let server: LaunchedPostgres
  let made = 0
  let database = ''
  before(async () => {
    server = await launchPostgres()
  })
  beforeEach(async () => {
    made += 1
    database = `trouble_${made}`
    await withClient(server.url(), (client) => client.query(`CREATE DATABASE ${database}`))
    const store = await openNode(server.url(database), true)
    await withTenants(store)
    await store.close()
  })
  after(() => server[Symbol.asyncDispose]())

  function openNode(url: string, create = false, writeTimeoutMs = limits.writeTimeoutMs) {
    const options = { kind: 'postgres', url, readConnections: 3, ...limits, writeTimeoutMs } as const
    return openStorage({ ...options, create, catalogue: catalogues.default })
  }

  it('acknowledges a repeat only when the repeated event is as safe as a new commit would be (P7)', async () => {
    await using node = await openNode(server.url(database))
    // It waits for longer than this test takes.
    await using other = await openNode(server.url(database), false, 60_000)
    const event = draft({ subject: 'home', id: 'home' })
    const [first] = await publish(node, [event])
    const query = (text: string) =>
      withClient(server.url(), async (client) => (await client.query(text)).rows)
    // A standby that is not there: as after a crash in which a commit was found again that nobody but the primary had.
    const name = (standby: string) =>
      withClient(server.url(), async (client) => {
        await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`)
        await client.query('SELECT pg_reload_conf()')
      })
    await name('nobody')
    try {
      const waits = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
      const finds = async () => (await query(waits)).length > 0
      // The setting is heard of in its own time: until a commit waits.
      const commits: Promise<unknown>[] = []
      await until(async () => {
        commits.push(query(`SELECT pg_logical_emit_message(true, 'a commit', '')`))
        await Promise.race([commits.at(-1), until(finds)])
        return await finds()
      })
      let acknowledged = false
      // This node remembers nothing of the feed, so it asks.
      const repeated = publish(other, [event]).finally(() => (acknowledged = true))
      // Long enough for an answer, were it not waiting.
      await delay(700)
      assert.equal(acknowledged, false)
      await name('')
      await Promise.all(commits)
      assert.deepEqual(await repeated, [{ ...first, status: 'repeated' }])
    } finally {
      await name('')
    }
  })

  it('is waited for while it restarts, in order or not: nothing lost, nothing twice (P1, P2, P3, P7)', async () => {
    await using one = await openNode(server.url(database))
    await using two = await openNode(server.url(database))
    const survived = await loadThrough([one, two], async (untilMore) => {
      for (const mode of ['fast', 'crash'] as const) {
        await server.halt(mode)
        // Long enough for everybody to be refused a connection.
        await delay(100)
        await server.start()
        await untilMore(50)
      }
    })
    assert.deepEqual(survived.faults, [])
    assert.ok(survived.publishes > 10, `${survived.publishes} publishes`)
    assert.ok(survived.longestMs < neverLongerMs, `${survived.longestMs} ms`)
  })

  it('loses no acknowledged event of a node that is killed while it publishes (P6, P7)', async () => {
    await using other = await openNode(server.url(database))
    const acknowledged = new Map<string, number>()
    for (let cycle = 0; cycle < (long ? 50 : 4); cycle += 1) {
      using child = spawn(process.execPath, [program, server.url(database), tenantA, `run ${cycle}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      // At another place of its work in each cycle, and with enough done, however busy the machine is.
      await until(() => text.split('\n').length > 8 + (cycle % 7), { what: 'its acknowledgements' })
      await publish(other, [draft({ subject: `other ${cycle}` })])
      child.kill('SIGKILL')
      await once(child, 'exit')
      // Whole lines only: the last one may be cut off.
      for (const line of text.split('\n').slice(0, -1)) {
        const [id = '', number] = line.split(' ')
        acknowledged.set(id, Number(number))
      }
    }
    const events = await list(other)
    assert.deepEqual(
      numbers(events),
      events.map((_, index) => index + 1),
    )
    const kept = new Map(events.map((event) => [event.id, event.sequenceNumber]))
    for (const [id, number] of acknowledged) assert.equal(kept.get(id), number)
    assert.ok(acknowledged.size > 20, `${acknowledged.size} acknowledged`)
    const { length } = events.filter(({ payload }) => payload.includes('first of two'))
    const seconds = events.filter(({ payload }) => payload.includes('second of two')).length
    assert.equal(length, seconds, 'no half of a request')
  })

  it('is reached again after cut connections, wherever they are cut (P6)', async () => {
    await using proxy = await startProxy(server.socketFile)
    await using one = await openNode(proxy.url(database))
    await using two = await openNode(server.url(database))
    const survived = await loadThrough([one, two], async (untilMore) => {
      for (let cut = 0; cut < (long ? 100 : 12); cut += 1) {
        proxy.cutAfter(1 + ((cut * 7919) % 20_000))
        await until(() => proxy.cuts > cut, { what: `cut ${cut}` })
      }
      proxy.cutAfter(undefined)
      await untilMore(20)
    })
    assert.deepEqual(survived.faults, [])
    assert.ok(survived.publishes > 10, `${survived.publishes} publishes`)
    assert.ok(survived.longestMs < neverLongerMs, `${survived.longestMs} ms`)
  })

  it('reports what it stored, with its remarks, if only the answer was lost (P6, PROTOCOL §4.11)', async () => {
    await using proxy = await startProxy(server.socketFile)
    await using gates = await putGates(server.url(database))
    await using one = await openNode(asNode(proxy.url(database), 'one'))
    const updateDate = '2026-01-01T00:00:00Z'
    await publish(one, [draft({ subject: 'p', updateDate })])
    await gates.close('one', 'commit')
    const held = publish(one, [draft({ subject: 'p', text: 'b', updateDate }), draft({ subject: 'q' })])
    await gates.reached('one', 'commit')
    proxy.swallowAnswers()
    await gates.open('one', 'commit')
    const isStored = async (): Promise<boolean> =>
      (await gates.query('SELECT FROM event WHERE position = 3')).length > 0
    await until(isStored, { what: 'the commit' })
    proxy.thaw()
    const lines = await held
    assert.deepEqual(
      lines.map(({ status, stored, remarks }) => [status, stored?.sequenceNumber, remarks]),
      [
        ['appended', 2, ['updateDateUnchanged']],
        ['appended', 3, undefined],
      ],
    )
  })

  it('that has gone silent is given up in time by every verb, and found again when it is back (P11)', async () => {
    await using proxy = await startProxy(server.socketFile)
    await using one = await openNode(proxy.url(database))
    await publish(one, [draft({ subject: 'p' })])
    const key = { tenantId: tenantA, feed: 'property' } as const
    proxy.freeze()
    const started = performance.now()
    const verbs: readonly (() => Promise<unknown>)[] = [
      () => publish(one, [draft({ subject: 'p', id: 'frozen' })]),
      () => list(one),
      () => list(one, { from: 0n }),
      () => one.events.head(key),
      () => one.keys.findKey('x'),
      () => one.ping(),
    ]
    await Promise.all(verbs.map((verb) => assert.rejects(verb(), (error) => error instanceof StorageFailure)))
    assert.ok(performance.now() - started < neverLongerMs)
    proxy.thaw()
    await one.ping()
    await publish(one, [draft({ subject: 'p', id: 'frozen' })])
    assert.deepEqual(numbers(await list(one)), [1, 2])
  })

  it('answers all requests in time although every connection is taken, and continues afterwards (P11)', async () => {
    await using one = await openNode(server.url(database))
    await withClient(server.url(database), async (client) => {
      await client.query('BEGIN; LOCK TABLE feed IN ACCESS EXCLUSIVE MODE')
      const started = performance.now()
      const asked = Array.from({ length: 40 }, () => list(one))
      const answers = await Promise.allSettled(asked)
      assert.ok(performance.now() - started < neverLongerMs)
      for (const answer of answers) {
        assert.ok(answer.status === 'rejected' && answer.reason instanceof StorageFailure)
        assert.equal(answer.reason.code, 'storage_unavailable')
      }
      await client.query('ROLLBACK')
    })
    assert.deepEqual(await list(one), [])
  })
})
