/** Several commits of one node at once: nobody waits for a lock that is not on their own feed, and every promise holds. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import * as fc from 'fast-check'
import { catalogues } from '@property-events/protocol'
import { defaultCommitLimits } from '../../src/publishing/append-queue/commit-limits.ts'
import type { CommitLimits } from '../../src/publishing/append-queue/commit-limits.ts'
import { createAppendQueue } from '../../src/publishing/append-queue/append-queue.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import type { AppendOutcome } from '../../src/events/append/append-batch.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey, tenantA, tenantB, uuid } from '../store/support/drafts.ts'
import { batchOf, request } from '../store/support/histories.ts'
import { list, numbers, receipt } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { putGates } from './support/gates.ts'
import { holdFeed } from './support/hold-feed.ts'
import { startProxy } from './support/proxy.ts'
import { withClient } from './support/standby.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const long = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const pending = Symbol('pending')
/** Commits beside each other as soon as anything waits. */
const hasty: CommitLimits = { ...defaultCommitLimits, gatherMs: [0, 0], lockWaitsMs: [10], lockedWaitMs: 30 }

async function soFar<T>(promise: Promise<T>): Promise<T | typeof pending> {
  return Promise.race([promise, new Promise<typeof pending>((resolve) => setImmediate(resolve, pending))])
}

const stored = (outcome: { readonly kind: string }): void => assert.equal(outcome.kind, 'stored')

describe('a node that commits several feeds at once', () => {
  let server: LaunchedPostgres
  let made = 0
  before(async () => {
    server = await launchPostgres()
  })
  after(() => server[Symbol.asyncDispose]())

  /** A new database with two tenants, its address, and nodes that open it. */
  async function place(): Promise<
    { url: string; name: string; node(url?: string): Promise<StorageEngine> } & AsyncDisposable
  > {
    made += 1
    const name = `lanes_${made}`
    await withClient(server.url(), (client) => client.query(`CREATE DATABASE ${name}`))
    const url = server.url(name)
    const nodes: StorageEngine[] = []
    const node = async (through = url): Promise<StorageEngine> => {
      const options = { kind: 'postgres', url: through, readConnections: 2, create: true } as const
      nodes.push(await openStorage({ ...options, catalogue: catalogues.default }))
      return nodes.at(-1) ?? assert.fail()
    }
    await withTenants(await node())
    return {
      url,
      name,
      node,
      async [Symbol.asyncDispose]() {
        for (const node of nodes) await node.close()
      },
    }
  }

  it('publishes to all other feeds while a session holds one, and to that one as soon as it is free (P1)', async () => {
    await using site = await place()
    const queue = createAppendQueue((await site.node()).events)
    const publish = (key: FeedKey, subject: string) => queue.submit(batch([draft({ subject })], { key }))
    for (const key of [feedKey(tenantA), feedKey(tenantB)]) stored(await publish(key, 'before'))
    const held = await holdFeed(site.url, feedKey(tenantA))
    // The first of them share a commit with the one that cannot be made.
    const first = ['p', 'q'].map((subject) => publish(feedKey(tenantA), subject))
    const others = Promise.all([publish(feedKey(tenantB), 'p'), publish(feedKey(tenantA, 'contact'), 'p')])
    for (const outcome of await others) stored(outcome)
    const later = publish(feedKey(tenantA), 'r')
    for (let n = 0; n < 20; n += 1) stored(await publish(feedKey(tenantB), `more ${n}`))
    assert.equal(await soFar(Promise.race([...first, later])), pending)
    await held.release()
    const given = await Promise.all([...first, later])
    assert.deepEqual(
      given.map((outcome) => outcome.kind === 'stored' && outcome.events[0]?.stored?.sequenceNumber),
      [2, 3, 4],
    )
    await queue.drained()
  })

  it('answers a poll by time of every other feed while one is held (P3)', async () => {
    await using site = await place()
    const node = await site.node()
    const queue = createAppendQueue(node.events)
    const held = await holdFeed(site.url, feedKey(tenantA))
    const waits = queue.submit(batch([draft({ subject: 'p' })]))
    stored(await queue.submit(batch([draft({ subject: 'p' })], { key: feedKey(tenantB) })))
    assert.equal((await list(node, { key: feedKey(tenantB), from: 0n })).length, 1)
    await held.release()
    stored(await waits)
    assert.equal((await list(node, { from: 0n })).length, 1)
  })

  it('fails alone what the database refuses, and stores the rest of the commit (P6, P11)', async () => {
    await using site = await place()
    const node = await site.node()
    const queue = createAppendQueue(node.events)
    await using gates = await putGates(site.url)
    await gates.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF new.branch = 'refused' THEN RAISE 'not this one' USING ERRCODE = '22021'; END IF; RETURN new; END $$`)
    await gates.query('CREATE TRIGGER refuse BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION refuse()')
    const publish = (key: FeedKey, subject: string, branch = '') =>
      queue.submit(batch([draft({ subject, ...(branch === '' ? {} : { branch }) })], { key }))
    const [a, b] = [feedKey(tenantA), feedKey(tenantB)]
    const results = await Promise.allSettled([
      publish(a, 'p'),
      publish(b, 'p'),
      publish(b, 'q', 'refused'),
      publish(b, 'r'),
      publish(feedKey(tenantA, 'contact'), 'p'),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(numbers(await list(node, { key: b })), [1, 2])
    assert.equal((await list(node)).length, 1)
  })

  it('keeps its sessions when a statement is refused: only what failed is forgotten (decision 0005)', async () => {
    await using site = await place()
    const node = await site.node()
    const held = await holdFeed(site.url, feedKey(tenantA))
    const sessions = () =>
      withClient(site.url, async (client) => {
        const asked = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'property-events' ORDER BY pid`
        return (await client.query<{ pid: number }>(asked)).rows.map(({ pid }) => pid)
      })
    const locked = () => node.events.append([batch([draft({ subject: 'p' })])], 20)
    await assert.rejects(locked(), { code: 'feed_locked' })
    const before = await sessions()
    for (let n = 0; n < 3; n += 1) await assert.rejects(locked(), { code: 'feed_locked' })
    assert.deepEqual(await sessions(), before)
    await held.release()
    stored((await node.events.append([batch([draft({ subject: 'p' })])], 20))[0] ?? assert.fail())
  })

  it('reports what it stored although the answer was lost and its own lost call held the feed (P6)', async () => {
    await using site = await place()
    await using proxy = await startProxy(server.socketFile)
    await using gates = await putGates(site.url)
    await gates.query('CREATE SEQUENCE calls; CREATE SEQUENCE opened')
    const node = await site.node(proxy.url(site.name))
    const queue = createAppendQueue(node.events, hasty)
    stored(await queue.submit(batch([draft({ subject: 'before' })])))
    // No lock, which would be waited for no longer than the one that is tested.
    await gates.wrapAppend(
      (call) => `RETURN QUERY ${call};
        IF nextval('calls') = 1 THEN WHILE (SELECT NOT is_called FROM opened) LOOP PERFORM pg_sleep(0.005); END LOOP; END IF;`,
    )
    const held = queue.submit(batch([draft({ subject: 'p', id: 'p' }), draft({ subject: 'q' })]))
    const finds = async (query: string): Promise<boolean> => (await gates.query(query)).length > 0
    await until(() => finds('SELECT FROM calls WHERE is_called'), { what: 'the first call' })
    proxy.swallowAnswers()
    proxy.thaw()
    // The node has lost its connection; the call goes on, and holds the feed.
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted`
    await until(() => finds(waiting), { what: 'a second call, which waits for the first' })
    // It tries more than once, and that is what is tested.
    await delay(3 * hasty.lockedWaitMs)
    assert.equal(await soFar(held), pending)
    await gates.query(`SELECT nextval('opened')`)
    assert.deepEqual(
      receipt((await held) as AppendOutcome).map(({ status, stored }) => [status, stored?.sequenceNumber]),
      [
        ['appended', 2],
        ['appended', 3],
      ],
    )
    const again = receipt((await queue.submit(batch([draft({ subject: 'p', id: 'p' })]))) as AppendOutcome)
    assert.deepEqual(
      again.map(({ status }) => status),
      ['repeated'],
      'another request with the same id is a repeat',
    )
    assert.deepEqual(numbers(await list(node)), [1, 2, 3])
  })

  it('answers as the reference does, in any order of gathering, locking and committing (P1, P3, P12)', async () => {
    await using site = await place()
    const node = await site.node()
    const reference = await temporaryStore()
    const asked = fc.record({
      request: request({ plain: false }),
      hasPause: fc.constantFrom(false, false, true),
      hold: fc.constantFrom(false, false, false, true),
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 5, maxLength: 30 }), async (history) => {
        runs += 1
        const tenants = [uuid(`run ${runs} a`), uuid(`run ${runs} b`)] as const
        for (const tenantId of tenants) {
          for (const store of [node, reference]) {
            await store.tenants.createTenant(
              { tenantId, name: tenantId, createdMs: 0, suspended: false },
              'cli:test',
            )
          }
        }
        const queue = createAppendQueue(node.events, hasty)
        const batches = history.map(({ request }) => batchOf(request, tenants))
        const answers: Promise<unknown>[] = []
        for (const [index, sent] of batches.entries()) {
          const { hold, hasPause } = history[index] ?? assert.fail()
          const held = hold ? await holdFeed(site.url, sent.key) : undefined
          answers.push(queue.submit(sent).then(untimed))
          // Part of what is random here: longer than a commit waits for a lock, so that one may find it held.
          if (hasPause) await delay(15)
          await held?.release()
        }
        const ours = await Promise.all(answers)
        await queue.drained()
        const theirs = []
        for (const sent of batches)
          theirs.push(untimed((await reference.events.append([sent]))[0] ?? assert.fail()))
        assert.deepEqual(ours, theirs)
        for (const tenantId of tenants) {
          for (const feed of ['property', 'contact'] as const) {
            const [one, two] = await Promise.all(
              [node, reference].map(async (store) => list(store, { key: { tenantId, feed }, from: 0n })),
            )
            assert.deepEqual(
              one?.map((event) => ({ ...event, createdDate: '' })),
              two?.map((event) => ({ ...event, createdDate: '' })),
            )
            const times = one?.map(({ createdDate }) => createdDate) ?? []
            assert.deepEqual(times, [...new Set(times)].toSorted(), 'time rises with the number')
          }
        }
      }),
      { numRuns: long ? 500 : 25 },
    )
    await reference.close()
  })
})

function untimed(outcome: { readonly kind: string }): unknown {
  if (outcome.kind !== 'stored') return { ...outcome, now: undefined, headCreated: undefined }
  return (outcome as AppendOutcome & { kind: 'stored' }).events.map(({ stored, ...line }) => ({
    ...line,
    number: stored?.sequenceNumber,
  }))
}
