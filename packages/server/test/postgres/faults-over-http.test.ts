/**
 * Everything that happens to machines happens to three services on a primary and its standby, while clients that follow
 * the documents publish and read over HTTP. What these wrote down is then held against the promises.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeTenant, placeOf } from '../../../cli/test/support/make-tenant.ts'
import { violations } from './faults/check-record.ts'
import { startCluster } from './faults/cluster.ts'
import type { Cluster } from './faults/cluster.ts'
import { mischief } from './faults/nemesis.ts'
import type { FeedRecord } from './faults/record.ts'
import { liveReaders } from './faults/live-readers.ts'
import { startLoad } from './faults/run-load.ts'
import type { RunningLoad, ServedFeed } from './faults/run-load.ts'
import { startNodes } from './faults/service-nodes.ts'
import type { ServiceNodes } from './faults/service-nodes.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
/** The faults that the checker must catch: they try the checker and not the service. */
const planted = { skip: isLong ? false : 'only in test:long' }
/** Another duration of the faults, in seconds, for those who look for something. */
const durationMs = Number(process.env['PROPERTY_EVENTS_TEST_FAULTS_SECONDS'] ?? (isLong ? 600 : 8)) * 1_000

describe('three services on a primary and its standby', () => {
  let cluster: Cluster
  let nodes: ServiceNodes
  const over = new AbortController()
  before(async () => {
    cluster = await startCluster()
    nodes = await startNodes(3, cluster.socketFile())
  })
  after(async () => {
    over.abort()
    await nodes?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  })

  const newFeed = async (name: string): Promise<ServedFeed> => {
    const { environment } = nodes
    const wanted = { read: ['read'], publish: ['publish'] }
    const { keys } = await makeTenant(placeOf(environment), name, wanted)
    return { readKey: keys.read.key, publishKey: keys.publish.key }
  }
  const load = (feed: ServedFeed, publishers: number, pauseMs: number): RunningLoad => {
    const { clockOffsetMs } = cluster
    return startLoad({ feed, nodes: nodes.all, publishers, pauseMs, clockOffsetMs, signal: over.signal })
  }

  it('keep every promise through kills, stops, cuts and promotions with clocks that differ (P1–P4, P6–P9)', async (t) => {
    const [busy, quiet] = await Promise.all([newFeed('busy'), newFeed('quiet')])
    const loads = [load(busy, 6, 40), load(quiet, 1, 2_000)]
    const live = liveReaders(nodes, [busy, quiet])
    const { counts, story } = await mischief(cluster, nodes, durationMs)
    if (isLong) await nodes.all[0]?.suffer('pause', 60_000)
    const records = await Promise.all(loads.map((running) => running.finish()))
    const told = await live.finish(records)
    t.diagnostic(JSON.stringify({ faults: counts, ...amounts(records), ...told }))
    assert.deepEqual(records.flatMap(violations), [], story.join('\n'))
    const { acknowledged, polls } = amounts(records)
    assert.ok(
      counts.promotion > 0 && acknowledged > 100 && polls > 20,
      `${acknowledged} events, ${polls} polls`,
    )
  })

  it('are caught when a poll by time does not wait for commits (P3)', planted, async () => {
    // Beyond all that was reserved before, so that events are stamped with the time.
    await cluster.setClock(60_000)
    // Between its stamp and its commit an event takes a moment, as on a busy disk; that alone is no fault.
    await cluster.query(`
      CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END $$;
      CREATE TRIGGER slow_commit AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION slow_commit()`)
    const sound = load(await newFeed('settled'), 3, 20)
    await sound.reached(20, 20)
    assert.deepEqual(violations(await sound.finish()), [])
    const broken = await newFeed('not settled')
    await cluster.query(`
      ALTER FUNCTION settle_window RENAME TO settle_window_kept;
      CREATE FUNCTION settle_window(uuid, smallint, bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT now_ticks()'`)
    const running = load(broken, 3, 20)
    // So many that one of them falls between a stamp and its commit on a busy machine, too.
    await running.reached(200, 300)
    const found = violations(await running.finish())
    await cluster.query(`
      DROP FUNCTION settle_window; ALTER FUNCTION settle_window_kept RENAME TO settle_window;
      DROP TRIGGER slow_commit ON event; DROP FUNCTION slow_commit`)
    assert.match(found.join('\n'), /^P3: .* never got/m)
  })

  it('are caught if the reservation is lost with the primary (P3)', planted, async () => {
    const feed = await newFeed('reservation lost')
    const readers = load(feed, 0, 20)
    await readers.reached(0, 10)
    await cluster.promote({
      clockOffsetMs: 30_000,
      plant: `CREATE OR REPLACE FUNCTION stamp_floor() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
        CREATE OR REPLACE FUNCTION raise_floor(wanted bigint) RETURNS void LANGUAGE sql AS ''`,
      lead: nodes.leadTo,
    })
    const publishers = load(feed, 1, 20)
    await publishers.reached(5, 5)
    const { publications } = await publishers.finish()
    const found = violations({ ...(await readers.finish()), publications })
    assert.match(found.join('\n'), /^P3: .* never got/m)
    for (const node of nodes.all) await node.stop()
  })
})

function amounts(records: readonly FeedRecord[]) {
  const publications = records.flatMap(({ publications }) => publications)
  const answers = records.flatMap(({ answers }) => answers)
  const through = (door: string): number => answers.filter(({ question }) => question.door === door).length
  return {
    events: records.reduce((sum, { kept }) => sum + kept.length, 0),
    acknowledged: publications.reduce(
      (sum, { receipt = [], again }) => sum + (again ? 0 : receipt.length),
      0,
    ),
    givenUp: publications.filter(({ receipt }) => receipt === undefined).length,
    polls: through('window'),
    readsByNumber: through('number'),
    pages: through('page'),
    byId: through('id'),
  }
}
