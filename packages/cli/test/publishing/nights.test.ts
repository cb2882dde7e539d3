/**
 * Publishing for months: what is published is in the feed, each thing once, whatever the habits of who publishes, and with runs
 * killed in the middle. Each publisher has a tenant, so that what comes to its feed is its own; the store's clock moves by a day a night.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { randomUUID } from 'node:crypto'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '@property-events/server'
import { randomOf } from '../../../client/test/support/random.ts'
import { feedReader } from '../support/night-feed.ts'
import { filePublisher, linePublisher, ownIdPublisher } from '../support/night-publishers.ts'
import type { Counts, Place, PublishNight } from '../support/night-publishers.ts'
import { removeFolder, temporaryFolder } from '../support/program.ts'
import { startPublishProxy } from '../support/publish-proxy.ts'

const nights = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 300 : 2
const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? 20_260_131)

const dayTicks = 864_000_000_000n
const firstNight = 17_700_000_000_000_000n
const unhurried = { perSecond: 100_000, burst: 1_000_000 }

describe('publishing for months', () => {
  it(`${nights} nights by three publishers leave nothing out and store nothing twice, and ids do not pile up (D14, P6, PROTOCOL §4.6)`, async (test) => {
    const folder = temporaryFolder()
    const clock = new BigInt64Array(new SharedArrayBuffer(8))
    Atomics.store(clock, 0, firstNight)
    const storage = await openStorage({
      kind: 'sqlite',
      folder,
      create: true,
      catalogue: catalogues.default,
      clock,
    })
    const [pepper] = loadPeppers({ folder: undefined, given: undefined })
    const service = await createService({
      storage,
      peppers: [pepper],
      log: createLogger({ level: 'silent' }),
      host: '127.0.0.1',
      port: 0,
      metrics: undefined,
      limits: { requests: unhurried, failures: unhurried },
    })
    const open: { close(): void }[] = []

    const placeOf = async (name: string, number: number): Promise<Place> => {
      const tenantId = randomUUID()
      await storage.tenants.createTenant({ tenantId, name, createdMs: 0, suspended: false }, 'cli:test')
      const keyFor = async (scope: 'property:read' | 'property:publish'): Promise<string> => {
        const grants = [{ tenantId, scopes: [scope] }]
        const request = {
          label: 'test',
          operator: false,
          grants,
          expiresMs: undefined,
          nowMs: Date.now(),
          actor: 'cli:test' as const,
        }
        const issued = await issueKey(storage.keys, pepper, request)
        return issued.kind === 'issued' ? issued.text : assert.fail(issued.kind)
      }
      const proxy = await startPublishProxy(service.url)
      open.push(proxy)
      const own = join(folder, name)
      mkdirSync(own)
      return {
        random: randomOf(seed + number),
        folder: own,
        proxy,
        environment: {
          PROPERTY_EVENTS_URL: proxy.url,
          PROPERTY_EVENTS_KEY: await keyFor('property:publish'),
          XDG_STATE_HOME: join(folder, 'state'),
        },
        happened: feedReader(service.url, await keyFor('property:read')),
        counts: {
          runs: 0,
          cuts: 0,
          goneOnWith: 0,
          abandoned: 0,
          lines: 0,
          equalFiles: 0,
          sentAgain: 0,
          events: 0,
        },
      }
    }

    let forgotten = 0
    const counts: Record<string, Counts> = {}
    try {
      const publishers: PublishNight[] = []
      for (const [number, [name, make]] of [
        ['lines', linePublisher],
        ['files', filePublisher],
        ['ownIds', ownIdPublisher],
      ].entries() as ArrayIterator<[number, [string, (place: Place) => PublishNight]]>) {
        const place = await placeOf(name, number)
        counts[name] = place.counts
        publishers.push(make(place))
      }
      for (let night = 1; night <= nights; night += 1) {
        Atomics.add(clock, 0, dayTicks)
        const ended = await Promise.allSettled(publishers.map((publish) => publish(night)))
        for (const one of ended) if (one.status === 'rejected') throw one.reason
        for (let removed = 1; removed > 0; forgotten += removed) removed = await storage.forgetSkippedIds()
      }
    } finally {
      for (const one of open) one.close()
      await service.close()
      await storage.close()
      test.diagnostic(JSON.stringify({ seed, nights, forgotten, ...counts }))
    }
    const { ids, events } = idsIn(folder)
    test.diagnostic(`${events} events, ${ids} ids`)
    assert.equal(
      events,
      Object.values(counts).reduce((sum, { events }) => sum + events, 0),
    )
    // Beside those of events, the ids of 30 nights of a file of some 500 lines that are skipped; one that is begun anew in the same
    // night brings as many again.
    assert.ok(ids - events <= 31 * 2 * 510, `${ids} ids are kept for ${events} events`)
    if (nights > 40) assert.ok(forgotten > 0)
    removeFolder(folder)
  })
})

function idsIn(folder: string): { readonly ids: number; readonly events: number } {
  const db = new Database(join(folder, 'property-events.db'), { readonly: true })
  try {
    const count = (table: string): number =>
      db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
    return { ids: count('event_id'), events: count('event') }
  } finally {
    db.close()
  }
}
