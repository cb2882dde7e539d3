/** Fills a store with the demo market, through the service's own publisher and with its own times (D25). */
import { feedNames, parseCreatedDate, sandboxTenantId, memberOf, memberText } from '@property-events/protocol'
import { uuidV5 } from '@property-events/server/plain'
import type { FeedName } from '@property-events/protocol'
import { defaultPublicationLimits, readPublication } from '@property-events/server'
import type { Publisher, StorageEngine } from '@property-events/server'
import { demoMarket } from './demo-data/demo-market.ts'
import type { MarketEvent } from './demo-data/market-event.ts'
import { marketTenants } from './demo-data/tenants.ts'

/** About 6,500 events in a dozen commits. */
const chunkEvents = 500

/** The market of a store, generated from these at each start. */
export interface LoadedMarket {
  /** When the first start was, and where the market ended. */
  readonly untilMs: number
  /** What the addresses of its photographs begin with. */
  readonly mediaUrl: string
}

interface LoadDemoOptions {
  readonly storage: StorageEngine
  readonly publisher: Publisher
  readonly market: LoadedMarket
  /** Stops between two commits. The next start adds the missing events. */
  readonly signal: AbortSignal
  readonly onProgress: (loaded: number) => void
}

/** Makes the missing tenants. A store with other tenants is not a demo's and is left alone. */
export async function createDemoTenants(storage: StorageEngine): Promise<'created' | 'otherTenants'> {
  const ours = new Set([sandboxTenantId, ...marketTenants.map((tenant) => tenant.tenantId)])
  const present = await storage.tenants.tenants()
  if (present.some((tenant) => !ours.has(tenant.tenantId))) return 'otherTenants'
  for (const { tenantId, name } of marketTenants) {
    await storage.tenants.createTenant({ tenantId, name, createdMs: Date.now(), suspended: false }, 'service')
  }
  return 'created'
}

/**
 * What the store's market is generated from: the first tenant's time of creation, and the address of its first photograph or, if there is
 * none yet, `mediaUrl`.
 */
export async function findMarket(storage: StorageEngine, mediaUrl: string): Promise<LoadedMarket> {
  const tenants = await storage.tenants.tenants()
  const first = tenants.find(({ tenantId }) => tenantId === tenantIdOf(0))
  const untilMs = first?.createdMs ?? Date.now()
  return { untilMs, mediaUrl: (await loadedMediaUrl(storage)) ?? mediaUrl }
}

/** Before the folders of `formOf` in demo-data/media.ts. */
const servedAddress = /^(https?:\/\/.+)\/[a-z]+\/[^/]+\/[^/]+$/

/** Of the first photograph among the first events; `undefined`: nothing is stored. */
async function loadedMediaUrl({ events }: StorageEngine): Promise<string | undefined> {
  for (const { tenantId } of marketTenants) {
    const key = { tenantId, feed: 'property' } as const
    const first = await events.readAfter({ key, view: 'all', after: 0, limit: 20, latestOnly: false })
    for (const { json } of first) {
      const payload: unknown = JSON.parse(
        memberText(JSON.parse(Buffer.from(json).toString()), 'payload') ?? '{}',
      )
      const media = memberOf(payload, 'media')
      for (const item of Array.isArray(media) ? media : []) {
        const [, mediaUrl] = servedAddress.exec(memberText(item, 'media_url') ?? '') ?? []
        if (mediaUrl !== undefined) return mediaUrl
      }
    }
  }
  return undefined
}

/** True when every feed of the demo has its last event. */
export async function isDemoLoaded(storage: StorageEngine, market: LoadedMarket): Promise<boolean> {
  const last = new Map<string, string>()
  for (const { event, id } of demoEvents(market)) last.set(`${event.tenant} ${event.feed}`, id)
  for (const [name, id] of last) {
    const [tenant, feed] = name.split(' ')
    const key = {
      tenantId: tenantIdOf(Number(tenant)),
      feed: feedNames.find((one) => one === feed) ?? 'property',
    }
    if ((await storage.events.readEvent(key, id)) === undefined) return false
  }
  return true
}

/**
 * Publishes the events that the store does not have yet; every event has an id of its own, so a second time changes
 * nothing. Resolves to why the store refused one, if it did.
 */
export async function loadDemo(options: LoadDemoOptions): Promise<Refused['kind'] | undefined> {
  let chunk: IdentifiedEvent[] = []
  let loaded = 0
  const publishChunk = async () => {
    const refused = await Promise.all(batchesOf(chunk).map((batch) => publishBatch(options, batch)))
    loaded += chunk.length
    chunk = []
    options.onProgress(loaded)
    return refused.find((kind) => kind !== undefined)
  }
  for (const identified of demoEvents(options.market)) {
    chunk.push(identified)
    if (chunk.length < chunkEvents) continue
    const refused = await publishChunk()
    if (refused !== undefined || options.signal.aborted) return refused
  }
  return publishChunk()
}

type Refused = Exclude<Awaited<ReturnType<Publisher['append']>>, { readonly kind: 'stored' }>

interface IdentifiedEvent {
  readonly event: MarketEvent
  readonly id: string
}

function* demoEvents(market: LoadedMarket): Generator<IdentifiedEvent> {
  let index = 0
  for (const event of demoMarket(market)) {
    yield { event, id: uuidV5(tenantIdOf(event.tenant), `demo/2/${event.feed}/${index}`) }
    index += 1
  }
}

/** One per feed, each in the order of the market. */
function batchesOf(chunk: readonly IdentifiedEvent[]): readonly (readonly IdentifiedEvent[])[] {
  const groups = Map.groupBy(chunk, ({ event }) => `${event.tenant} ${event.feed}`)
  return [...groups.values()]
}

async function publishBatch(
  { storage, publisher }: LoadDemoOptions,
  batch: readonly IdentifiedEvent[],
): Promise<Refused['kind'] | undefined> {
  const [first] = batch
  if (first === undefined) return undefined
  const feed: FeedName = first.event.feed
  const reading = readPublication({
    feed,
    body: Buffer.from(batch.map(({ event, id }) => JSON.stringify({ id, ...event.body })).join('\n')),
    format: 'ndjson',
    catalogue: storage.settings.catalogue,
    limits: defaultPublicationLimits,
    newId: () => crypto.randomUUID(),
  })
  if (reading.kind === 'faults')
    throw new Error(`the demo market is not fit to publish: ${reading.errors[0]?.message}`)
  const drafts = reading.drafts.map((draft, index) => {
    const requestedCreated = parseCreatedDate(batch[index]?.event.at ?? '')
    return requestedCreated === undefined ? draft : { ...draft, requestedCreated }
  })
  const key = { tenantId: tenantIdOf(first.event.tenant), feed }
  const outcome = await publisher.append({ key, drafts, unchanged: 'store' })
  return outcome.kind === 'stored' ? undefined : outcome.kind
}

function tenantIdOf(index: number): string {
  const tenant = marketTenants[index]
  if (tenant === undefined) throw new RangeError(`the demo market has no tenant ${index}`)
  return tenant.tenantId
}
