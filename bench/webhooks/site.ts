/** A store with many endpoints of webhooks, made by way of the service's own operations, and the service on it. */
import { mkdirSync } from 'node:fs'
import { publicationBodies, publishPath } from '../support/publications.ts'
import { listPath } from '../support/reading-set.ts'
import { getOk } from '../support/requests.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import { emptyStore, keysOf, tenantIdOf } from '../support/store.ts'
import type { StorePlace } from '../support/store.ts'

/** How much there is of everything. */
export interface Scale {
  readonly tenants: number
  readonly endpointsPerTenant: number
  /** Each of the first tenants has one more endpoint, paused, whose receiver never answers. */
  readonly tarpits: number
  /** Events of each tenant that all its endpoints have still to be sent. */
  readonly backlog: number
  /** Events of one more tenant, without endpoints. */
  readonly quietEvents: number
}

export interface SiteEndpoint {
  readonly id: string
  readonly secret: string
  readonly tenant: number
}

export interface WebhookSite {
  readonly scale: Scale
  /** Of each tenant. */
  readonly keys: readonly string[]
  /** Of the tenant without endpoints. */
  readonly quietKey: string
  /** How many events each tenant has. */
  readonly backlogs: readonly number[]
  /** The one with the number N is sent to `/endpoint/N`. */
  readonly endpoints: readonly SiteEndpoint[]
  readonly tarpits: readonly SiteEndpoint[]
  /** Serves it, on the server's core. */
  serve(webhooks: 'on' | 'off'): Promise<RunningService>
}

const averageBytes = 3_600
const quietBatch = 100
/** Requests under way at once while a site is made. */
const atOnce = 16

export async function makeSite(
  place: StorePlace,
  folder: string,
  receiverUrl: string,
  scale: Scale,
): Promise<WebhookSite> {
  mkdirSync(folder, { recursive: true })
  const { tenants } = scale
  await (await emptyStore(place, tenants + 1)).close()
  const ids = Array.from({ length: tenants + 1 }, (_, index) => tenantIdOf(index))
  const keys = await keysOf(place, folder, ids)
  const quietKey = keys[tenants] ?? ''
  const args = [
    ...(place.kind === 'postgres' ? ['--database', place.url] : []),
    '--webhook-allow-http',
    '--webhook-allow-networks',
    '127.0.0.0/8',
  ]
  const serve = (webhooks: 'on' | 'off') => startService(folder, { args: [...args, '--webhooks', webhooks] })
  const made = await makeEndpoints({ keys, serve }, receiverUrl, scale)
  await using service = await serve('off')
  const [quietBody = ''] = publicationBodies(averageBytes, quietBatch)
  for (let published = 0; published < scale.quietEvents; published += quietBatch)
    await send(service, quietKey, publishPath, quietBody)
  const bodies = publicationBodies(averageBytes, Math.max(1, scale.backlog))
  const backlogs = await eachOf(tenants, async (tenant) => {
    const key = keys[tenant] ?? ''
    if (scale.backlog === 0) return 0
    await send(service, key, publishPath, bodies[tenant % bodies.length] ?? '')
    return eventsOf(service, key)
  })
  return { scale, keys: keys.slice(0, tenants), quietKey, backlogs, ...made, serve }
}

/** At the head of feeds that are still empty, by a node that knows which addresses may be sent to. */
async function makeEndpoints(
  { keys, serve }: Pick<WebhookSite, 'keys' | 'serve'>,
  receiverUrl: string,
  { tenants, endpointsPerTenant, tarpits: count }: Scale,
): Promise<Pick<WebhookSite, 'endpoints' | 'tarpits'>> {
  await using service = await serve('on')
  const make = async (tenant: number, path: string): Promise<SiteEndpoint> => {
    const body = JSON.stringify({ url: `${receiverUrl}${path}`, feed: 'property' })
    const text = await send(service, keys[tenant] ?? '', '/v1/webhooks', body)
    const { id, secret }: { id: string; secret: string } = JSON.parse(text)
    return { id, secret, tenant }
  }
  const endpoints = await eachOf(tenants * endpointsPerTenant, (nth) =>
    make(nth % tenants, `/endpoint/${nth}`),
  )
  const tarpits = await eachOf(count, (nth) => make(nth % tenants, `/tarpit/${nth}`))
  await setTarpits({ tarpits, keys }, service, 'paused')
  return { endpoints, tarpits }
}

/** Receivers that never answer begin or cease to be sent to. */
export async function setTarpits(
  { tarpits, keys }: Pick<WebhookSite, 'tarpits' | 'keys'>,
  service: RunningService,
  state: 'enabled' | 'paused',
): Promise<void> {
  await eachOf(tarpits.length, async (nth) => {
    const { id = '', tenant = 0 } = tarpits[nth] ?? {}
    await send(service, keys[tenant] ?? '', `/v1/webhooks/${id}`, JSON.stringify({ state }), 'PATCH')
  })
}

/** The service adds some of its own, as when a property comes to another category. */
async function eventsOf({ url }: RunningService, key: string): Promise<number> {
  const page = await getOk(`${url}${listPath}?pageSize=1`, { 'x-api-key': key })
  const { totalPages }: { totalPages: number } = JSON.parse(page.toString())
  return totalPages
}

async function send(
  { url }: RunningService,
  key: string,
  path: string,
  body: string,
  method = 'POST',
): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const request = { method, headers, body }
  const answer = await fetch(`${url}${path}`, request)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 300)}`)
  return text
}

/** Several at once; the results in order. */
async function eachOf<T>(count: number, run: (nth: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = []
  let next = 0
  const inTurn = async (): Promise<void> => {
    while (next < count) {
      const nth = next
      next += 1
      results[nth] = await run(nth)
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, inTurn))
  return results
}
