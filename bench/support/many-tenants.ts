/** Stores of 10,000 tenants with a key each, and the check that they answer correctly. */
import { mkdirSync, readFileSync } from 'node:fs'
import { catalogues, scopes } from '@property-events/protocol'
import { issueKey, loadPeppers } from '../../packages/server/src/keys/index.ts'
import { openStorage } from '../../packages/server/src/store/open-storage.ts'
import { ask } from './ask-postgres.ts'
import type { RunningService } from './service.ts'
import { tenantIdOf } from './store.ts'

export const tenants = 10_000
const list = '/api/func/api/v1/events/getevents'
/** No tenant has this many events: the empty page after the last one. */
export const headTarget = `${list}?page=1000000`

export type NewStore =
  | { readonly kind: 'sqlite'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Creates the tenants, with a key each, and a pepper in `folder`. */
export async function makeStore(place: NewStore, folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const [pepper] = loadPeppers({ folder, given: undefined })
  await using storage = await openStorage({
    ...place,
    create: true,
    catalogue: catalogues.default,
    startSequence: 0,
  })
  return await forEachTenant(async (nth) => {
    const tenantId = tenantIdOf(nth)
    const nowMs = Date.now()
    await storage.tenants.createTenant(
      { tenantId, name: `Agency ${nth}`, createdMs: nowMs, suspended: false },
      'cli:bench',
    )
    const grants = [{ tenantId, scopes: [...scopes] }]
    const request = {
      label: 'bench',
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs,
      actor: 'cli:bench' as const,
    }
    const issued = await issueKey(storage.keys, pepper, request)
    if (issued.kind !== 'issued') throw new Error(`no key for ${tenantId}`)
    return issued.text
  })
}

/** Several at once; the results in the tenants' order. */
async function forEachTenant(run: (nth: number) => Promise<string>): Promise<readonly string[]> {
  const results = Array.from({ length: tenants }, () => '')
  let next = 0
  const inTurn = async (): Promise<void> => {
    while (next < tenants) {
      const nth = next
      next += 1
      results[nth] = await run(nth)
    }
  }
  await Promise.all(Array.from({ length: 50 }, inTurn))
  return results
}

/** Before the measurement: some tenants publish, and find exactly that at the end of their own feed, on every node. */
export async function checkPublishing(
  nodes: readonly RunningService[],
  keys: readonly string[],
  bodyFile: string,
): Promise<void> {
  const [body = ''] = readFileSync(bodyFile, 'utf8').split('\n')
  const ids = new Set<string>()
  for (let turn = 0; turn < 20; turn += 1) {
    const nth = turn * (tenants / 20)
    const node = nodes[turn % nodes.length]
    const headers = { 'x-api-key': keys[nth] ?? '', 'content-type': 'application/json' }
    const answer = await fetch(`${node?.url}/v1/property-events`, { method: 'POST', headers, body })
    if (answer.status !== 201) throw new Error(`publishing answered ${answer.status}: ${await answer.text()}`)
    const { events }: { events: { id: string; sequenceNumber: number }[] } = JSON.parse(await answer.text())
    const [stored] = events
    if (stored === undefined || ids.has(stored.id)) throw new Error('a receipt without an event of its own')
    ids.add(stored.id)
    for (const { url } of nodes) {
      const page = await fetch(`${url}${list}?page=${stored.sequenceNumber}&pageSize=1`, { headers })
      const { items }: { items: { id: string; tenantId: string }[] } = JSON.parse(await page.text())
      if (items[0]?.id !== stored.id || items[0].tenantId !== tenantIdOf(nth)) {
        throw new Error(`${url} does not show what tenant ${nth} has just published`)
      }
    }
  }
}

/** The tag of the page after each tenant's last event. */
export async function headTags(node: RunningService, keys: readonly string[]): Promise<readonly string[]> {
  const tags = await forEachTenant(async (nth) => {
    const headers = { 'x-api-key': keys[nth] ?? '', 'accept-encoding': 'identity' }
    const answer = await fetch(`${node.url}${headTarget}`, { headers })
    await answer.text()
    return answer.headers.get('etag') ?? ''
  })
  if (tags.includes('')) throw new Error('a page without a tag')
  return tags
}

/** At the end: no feed has a gap, and none has two events with one number. */
export async function checkNumbers(url: string): Promise<void> {
  const broken = await ask(
    url,
    `SELECT tenant FROM feed LEFT JOIN event USING (tenant, feed) GROUP BY tenant, feed, last_position
      HAVING count(event.position) <> last_position OR coalesce(max(event.position), 0) <> last_position`,
  )
  if (broken.length > 0) throw new Error(`${broken.length} feeds have holes`)
}
