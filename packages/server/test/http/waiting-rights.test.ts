/** Everything that waits, or is being answered, loses its right when a request would: each loss with each way to wait (PROTOCOL §2.5). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { FeedName } from '@property-events/protocol'
import type { Grant, StorageEngine } from '../../src/index.ts'
import { consoleFolder, sessionHeaders, signIn } from '../support/console-page.ts'
import type { SignedIn } from '../support/console-page.ts'
import { ways } from '../support/held-readers.ts'
import type { Held, WayName } from '../support/held-readers.ts'
import { call, publish } from '../support/http-client.ts'
import { contact, property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestEngine, TestNode, TestService } from '../support/test-service.ts'
import { until, within } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const actor = 'cli:test'
const elsewhere = ['192.0.2.0/24']
const isSessionWay = (way: WayName): boolean => way.includes('session')
/** Ends nothing that waits by itself: a stream would notice with its next mark at the latest. */
const limits = { markEveryMs: 600_000, idleSocketTimeoutMs: 1_200_000, longestWaitMs: 120_000 }

interface Losing {
  readonly service: TestService
  readonly tenantId: string
  readonly keyId: string
  readonly session: SignedIn
  readonly nowMs: number
}

interface Loss {
  readonly name: string
  /** How the next request is refused. */
  readonly code: RegExp
  readonly feed?: FeedName
  /** Beside the tenant's id; default: reads properties. */
  readonly grant?: Omit<Grant, 'tenantId'>
  /** The key also reads this other tenant, and names the first. */
  readonly hasOther?: boolean
  readonly expiresInMs?: number
  /** The ways that it does not concern. */
  readonly without?: (way: WayName) => boolean
  /** How a wait for heads ends, if it is not refused. */
  readonly heads?: RegExp
  readonly lose: (losing: Losing) => Promise<unknown> | undefined
}

const isRequests = (way: WayName): boolean => way.startsWith('requests')
const isSnapshot = (way: WayName): boolean => way.includes('snapshot')
const isHeads = (way: WayName): boolean => way.includes('heads')
const regrant =
  (grant: Omit<Grant, 'tenantId'>) =>
  ({ service, keyId, tenantId }: Losing) =>
    service.storage.keys.grant(keyId, { tenantId, ...grant }, actor)
const viaKey =
  (path: string, method: string, body: object) =>
  async ({ service, keyId }: Losing) => {
    const { text: key } = await service.issue({ operator: true, adminScopes: ['admin:manage'] })
    const headers = { 'content-type': 'application/json' }
    const target = `/v1/admin/keys/${keyId}${path}`
    const answer = await call(service, target, { method, key, headers, body: JSON.stringify(body) })
    assert.ok(answer.status < 300, answer.text)
  }

const losses: readonly Loss[] = [
  { name: 'is revoked', code: /^key_revoked$/, lose: viaKey('/revoke', 'POST', {}) },
  { name: 'expires', code: /^key_expired$/, expiresInMs: 60_000, lose: () => undefined },
  { name: 'is rotated away', code: /^key_expired$/, lose: viaKey('/rotate', 'POST', { overlapHours: 0 }) },
  {
    name: 'is limited to other networks',
    code: /^key_network$/,
    lose: viaKey('', 'PATCH', { networks: elsewhere }),
  },
  {
    name: 'is given an end',
    code: /^key_expired$/,
    lose: ({ service, keyId, nowMs }) =>
      service.storage.keys.changeKey(keyId, { expiresMs: nowMs + 1_000 }, actor),
  },
  {
    name: 'loses its scopes',
    code: /^missing_scope$/,
    without: isRequests,
    lose: regrant({ scopes: ['tenant:inspect'] }),
  },
  {
    name: 'is given other branches',
    code: /^(?:key_disabled|view_being_made)$/,
    grant: { scopes: ['property:read'], branches: ['Fell £ Ŷ'] },
    without: isRequests,
    heads: /^no events$/,
    lose: regrant({ scopes: ['property:read'], branches: ['Dale – 🏡'] }),
  },
  {
    name: 'loses roles of contacts',
    code: /^key_disabled$/,
    feed: 'contact',
    grant: { scopes: ['contact:read'], contact: { roles: ['vendor', 'buyer'], fields: ['last_name'] } },
    // It reads the heads of the same feeds.
    without: (way) => isRequests(way) || isHeads(way),
    lose: regrant({ scopes: ['contact:read'], contact: { roles: ['vendor'], fields: ['last_name'] } }),
  },
  {
    name: 'loses fields of contacts',
    code: /^key_disabled$/,
    feed: 'contact',
    grant: { scopes: ['contact:read'] },
    without: (way) => isRequests(way) || isHeads(way),
    lose: regrant({ scopes: ['contact:read'], contact: { fields: ['last_name'] } }),
  },
  {
    name: 'has a tenant that is suspended',
    code: /^key_disabled$/,
    lose: ({ service, tenantId }) =>
      service.storage.tenants.changeTenant(tenantId, { suspended: true }, actor),
  },
  {
    name: 'has several tenants, and the one asked for is suspended',
    code: /^missing_scope$/,
    hasOther: true,
    without: isRequests,
    lose: ({ service, tenantId }) =>
      service.storage.tenants.changeTenant(tenantId, { suspended: true }, actor),
  },
  {
    name: 'has a tenant that has left',
    code: /^key_disabled$/,
    // The service removes its properties, as events.
    feed: 'contact',
    grant: { scopes: ['contact:read'] },
    lose: ({ service, tenantId, nowMs }) =>
      service.storage.leaving.begin({ tenantId, sinceMs: nowMs, readingEndsMs: nowMs + 30_000 }, actor),
  },
  {
    name: 'has a tenant that is being deleted',
    code: /^(?:key_disabled|unauthorized|console_session_ended)$/,
    async lose({ service: { storage }, tenantId }) {
      await storage.tenants.changeTenant(tenantId, { suspended: true }, actor)
      const begun = await storage.deletions.begin(
        { deletionId: randomUUID(), tenantId, export: 'none' },
        actor,
      )
      assert.equal(begun.kind, 'begun')
    },
  },
  {
    name: 'is signed out',
    code: /^console_session_ended$/,
    without: (way) => !isSessionWay(way),
    lose: ({ service, session }) =>
      call(service, '/console/session', { method: 'DELETE', headers: sessionHeaders(session) }),
  },
]

const everyWay = Object.keys(ways).filter((way): way is WayName => Object.hasOwn(ways, way))
const nameOf = ({ name }: Loss, way: WayName): string => `${name}: ${way}`
const waysOf = ({ without = () => false }: Loss): readonly WayName[] =>
  everyWay.filter((way) => !without(way))

/** Snapshots are held back at their first read from the store. */
function gate() {
  const opening = Promise.withResolvers<void>()
  const state = { isShut: false, waiting: 0 }
  const wrap = (storage: StorageEngine): StorageEngine =>
    withEvents(storage, {
      async readAfter(query) {
        if (state.isShut && query.latestOnly) {
          state.waiting += 1
          await opening.promise
        }
        return storage.events.readAfter(query)
      },
    })
  return { state, wrap, open: () => opening.resolve() }
}

/** Long-polls, streams and waits for heads together. */
async function waitingOf({ metricsUrl }: Pick<TestNode, 'metricsUrl'>): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const counts = text.matchAll(/^property_events_waiting_requests\{.*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** A tenant of its own for each loss, with one event, and a key that waits for more in each way. */
async function begin(
  service: TestService,
  node: Pick<TestNode, 'port'>,
  { feed = 'property', ...loss }: Loss,
  nowMs: number,
) {
  const { tenants } = service.storage
  const [tenantId, otherId] = [randomUUID(), randomUUID()]
  for (const one of [tenantId, otherId]) {
    const name = `Tŷ ${one} – £ 🏠`
    await tenants.createTenant({ tenantId: one, name, createdMs: nowMs, suspended: false }, actor)
  }
  const publishing = [{ tenantId, scopes: ['property:publish', 'contact:publish'] as const }]
  const { text: publisher } = await service.issue({ grants: publishing })
  const payload = feed === 'property' ? property({ branch_id: 'Fell £ Ŷ' }) : contact({ surname: 'Siân 🏡' })
  await publish(service, { payload }, { key: publisher, feed })
  const grant = { tenantId, ...(loss.grant ?? { scopes: ['property:read'] as const }) }
  const other = { tenantId: otherId, scopes: ['property:read'] as const }
  const { text: key, keyId } = await service.issue({
    grants: loss.hasOther === true ? [grant, other] : [grant],
    ...(loss.expiresInMs === undefined ? {} : { expiresMs: nowMs + loss.expiresInMs }),
  })
  const headers: Readonly<Record<string, string>> = loss.hasOther === true ? { 'x-tenant': tenantId } : {}
  const isRead = async () => (await call(node, `/v1/${feed}-events?after=0`, { key, headers })).status === 200
  await until(isRead, { what: 'the feed can be read' })
  const session = await signIn(service, { key })
  return {
    losing: { service, tenantId, keyId, session, nowMs },
    place: { key, feed, after: 1, session, headers },
  }
}

function lossesOn(engine: TestEngine, title: string): void {
  describe(title, () => {
    let aheadMs = 0
    const ends = new Map<string, string>()
    const held: Held[] = []
    let stop = async (): Promise<void> => undefined

    before(async () => {
      const { state, wrap, open } = gate()
      const clock = () => Date.now() + aheadMs
      const service = await startTestService({
        engine,
        wrap,
        clock,
        limits,
        console: { folder: consoleFolder() },
      })
      const another = engine === 'postgres' ? await service.another() : undefined
      const node = another ?? { port: service.port, metricsUrl: service.service.metricsUrl ?? '' }
      stop = async () => {
        for (const one of held) one.close()
        await another?.stop()
        await service.stop()
      }
      const begun = await Promise.all(
        losses.map(async (loss) => ({ loss, ...(await begin(service, node, loss, clock())) })),
      )
      state.isShut = true
      const reading = await Promise.all(
        begun.flatMap(({ loss, place }) =>
          waysOf(loss).map(async (way) => {
            // The gate is in the first node.
            const { port } = isSnapshot(way) ? service : node
            return { name: nameOf(loss, way), way, held: await ways[way]({ ...place, port }) }
          }),
        ),
      )
      held.push(...reading.map((one) => one.held))
      const snapshots = reading.filter(({ way }) => isSnapshot(way))
      const waiting = reading.filter(({ way }) => !isSnapshot(way) && !isRequests(way))
      await until(() => state.waiting === snapshots.length, { what: 'every snapshot under way' })
      await until(async () => (await waitingOf(node)) === waiting.length, { what: 'all that wait' })
      await Promise.all(begun.map(async ({ loss, losing }) => loss.lose({ ...losing, nowMs: clock() })))
      const lostMs = performance.now()
      aheadMs += 61_000
      const note = async ({ name, held: { ended } }: (typeof reading)[number]): Promise<void> => {
        ends.set(name, await within(ended, { timeoutMs: 5_000 }).catch(() => 'goes on'))
      }
      await Promise.all(reading.filter((one) => !snapshots.includes(one)).map(note))
      // A snapshot that goes on within the 2 s may still come to its end.
      await until(() => performance.now() - lostMs > 2_000, { what: 'the 2 s to be over' })
      open()
      await Promise.all(snapshots.map(note))
    })
    after(() => stop())

    for (const loss of losses) {
      for (const way of waysOf(loss)) {
        it(`${way} ends within 2 s when its key ${loss.name} (PROTOCOL §2.5, D11)`, () => {
          const end = ends.get(nameOf(loss, way)) ?? ''
          const isCut = /stream|snapshot/.test(way)
          assert.match(end, isCut ? /^cut off$/ : isHeads(way) ? (loss.heads ?? loss.code) : loss.code)
        })
      }
    }
  })
}

lossesOn('sqlite', 'what waits on a node')
lossesOn('postgres', 'what waits on another node of the same PostgreSQL')
