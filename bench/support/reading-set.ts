/** Prepares a filled store for reading and comparing: answers checked, the same bytes as files, sealed pages. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { get, getOk } from './requests.ts'
import { rowsOf } from './rows.ts'
import { startService } from './service.ts'
import { benchFeed, filledStore, keysOf, storeSeed } from './store.ts'
import type { RunningServer } from './server.ts'

export const listPath = '/api/func/api/v1/events/getevents'
/** Appended to a page's target: the sales of a feed. */
export const salesFilter = '&apiEventType=salesproperty'
export const byIdPath = '/api/func/api/v1/events/geteventbyid'

export interface ReadingSet {
  readonly folder: string
  /** Files for a static server: `/100/7.json` is page 7 of 100, `/events/<id>.json` one event; pages gzipped too. */
  readonly files: string
  readonly key: string
  readonly events: number
  /** Full pages of 100. */
  readonly pages: number
  /** Spread evenly over the store. */
  readonly ids: readonly string[]
}

/** Single events asked for: more than any cache of file names holds by default, few enough to be files. */
const mostIds = 50_000
const fileSizes = [100, 1_000] as const

export function pageTarget(page: number, pageSize: number, filter = ''): string {
  return `${listPath}?page=${page}&pageSize=${pageSize}${filter}`
}

/** Takes the store of that size, prepared once. Checks compare with the generator itself. */
export async function readingSet(events: number, averageBytes: number): Promise<ReadingSet> {
  const { folder, tenantIds } = await filledStore(events, averageBytes)
  const [key = ''] = await keysOf({ kind: 'sqlite', folder }, folder, tenantIds)
  const files = join(folder, 'static')
  const pages = Math.floor(events / 100)
  const ready = join(files, 'complete')
  const set = { folder, files, key, events, pages }
  await using service = await startService(folder, { core: '0,1' })
  await sealAll(service, key, folder, ['', salesFilter])
  if (!existsSync(ready)) {
    const ids = exportEvents(set, averageBytes)
    await exportPages(service, set)
    await checkAgainstGenerator(set, averageBytes)
    writeFileSync(ready, ids.join('\n'))
  }
  const all = { ...set, ids: readFileSync(ready, 'utf8').split('\n') }
  await checkAnswers(service, all)
  return all
}

/** Single events as the generator produces them. */
function exportEvents({ files, events }: Omit<ReadingSet, 'ids'>, averageBytes: number): readonly string[] {
  mkdirSync(join(files, 'events'), { recursive: true })
  const step = Math.max(1, Math.floor(events / mostIds))
  const ids: string[] = []
  for (const { event } of rowsOf({ key: benchFeed, events, averageBytes, seed: storeSeed })) {
    if (event.position % step !== 0 || ids.length === mostIds) continue
    ids.push(event.id)
    writeFileSync(join(files, 'events', `${event.id}.json`), event.json)
  }
  return ids
}

/** Exactly what the service sends, plain and gzipped. */
async function exportPages(
  service: RunningServer,
  { files, key, events }: Omit<ReadingSet, 'ids'>,
): Promise<void> {
  for (const size of fileSizes) {
    mkdirSync(join(files, String(size)), { recursive: true })
    for (let page = 1; page <= Math.floor(events / size); page += 1) {
      const url = `${service.url}${pageTarget(page, size)}`
      const headers = { 'x-api-key': key }
      const path = join(files, String(size), `${page}.json`)
      writeFileSync(path, await getOk(url, { ...headers, 'accept-encoding': 'identity' }))
      const zipped = await get(url, { ...headers, 'accept-encoding': 'gzip' })
      if (zipped.headers['content-encoding'] !== 'gzip') throw new Error(`page ${page} is not gzipped`)
      writeFileSync(`${path}.gz`, zipped.bytes)
    }
  }
}

/** Every page of 100, byte for byte. */
async function checkAgainstGenerator(
  { files, events }: Omit<ReadingSet, 'ids'>,
  averageBytes: number,
): Promise<void> {
  let items: string[] = []
  let page = 0
  for (const { event } of rowsOf({ key: benchFeed, events, averageBytes, seed: storeSeed })) {
    items.push(event.json)
    if (items.length < 100) continue
    page += 1
    const totals = `"page":${page},"pageSize":100,"availableCount":${events},"totalPages":${Math.ceil(events / 100)}`
    const expected = `{"items":[${items.join(',')}],${totals}}`
    if (readFileSync(join(files, '100', `${page}.json`), 'utf8') !== expected) {
      throw new Error(`page ${page} is not what was put in`)
    }
    items = []
  }
}

/** A sample before every run: pages in both codings, single events. */
export async function checkAnswers(server: RunningServer, set: ReadingSet): Promise<void> {
  const headers = { 'x-api-key': set.key }
  const step = Math.max(1, Math.floor(set.pages / 20))
  for (let page = 1; page <= set.pages; page += step) {
    const plain = readFileSync(join(set.files, '100', `${page}.json`))
    const url = `${server.url}${pageTarget(page, 100)}`
    const answer = await getOk(url, { ...headers, 'accept-encoding': 'identity' })
    if (!answer.equals(plain)) throw new Error(`page ${page} is not the page in the file`)
    const unzipped = await (
      await fetch(url, { headers: { ...headers, 'accept-encoding': 'gzip' } })
    ).arrayBuffer()
    if (!Buffer.from(unzipped).equals(plain)) throw new Error(`page ${page}, gzipped, is another`)
  }
  for (const id of [set.ids[0], set.ids.at(-1)]) {
    const answer = await getOk(`${server.url}${byIdPath}/${id}`, {
      ...headers,
      'accept-encoding': 'identity',
    })
    if (!answer.equals(readFileSync(join(set.files, 'events', `${id}.json`))))
      throw new Error(`event ${id} is another`)
  }
}

/**
 * Asks for every page until all full segments are sealed. The sealer takes one segment at a time, some 5 ms each with
 * events of 4 kB, and forgets what it cannot hold; the second round finds what the first one lost.
 */
export async function sealAll(
  service: RunningServer,
  key: string,
  folder: string,
  views: readonly string[],
  msPerTwentyPages = 100,
): Promise<void> {
  const stamp = join(folder, 'sealed')
  const sealedBytes = (): number =>
    statSync(join(folder, 'sealed-pages'), { throwIfNoEntry: false })?.size ?? 0
  if (existsSync(stamp) && Number(readFileSync(stamp, 'utf8')) <= sealedBytes()) return
  const headers = { 'x-api-key': key, 'accept-encoding': 'identity' }
  for (const pauseMs of [msPerTwentyPages, msPerTwentyPages / 5]) {
    for (const view of views) {
      const first = await getOk(`${service.url}${pageTarget(1, 1, view)}`, headers)
      const { availableCount }: { availableCount: number } = JSON.parse(first.toString())
      for (let page = 1; page <= availableCount / 100; page += 1) {
        await getOk(`${service.url}${pageTarget(page, 100, view)}`, headers)
        if (page % 20 === 0) await delay(pauseMs)
      }
    }
  }
  await delay(500)
  writeFileSync(stamp, String(sealedBytes()))
}
