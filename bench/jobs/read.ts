/** J1, J2, J5: pages, single events and idle polls, at random over the whole store; beside nginx with the same bytes. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { startNginx } from '../peers/nginx.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { startService } from '../support/service.ts'
import { filledStore, keysOf } from '../support/store.ts'
import { listFile } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

const list = '/api/func/api/v1/events/getevents'
const byId = '/api/func/api/v1/events/geteventbyid'

export async function benchReading(options: BenchOptions): Promise<void> {
  const store = await filledStore(options.events, options.averageBytes)
  const [key = ''] = await keysOf(store.folder, store.tenantIds)
  const files = join(store.folder, 'static')
  await using sealed = await startService(store.folder)
  const pages = await checkedPageCount(sealed.url, key)
  const ids = await exportFiles(sealed.url, key, pages, files)
  await sealEverything(sealed.url, key, pages)
  await using nginx = await startNginx(join(options.folder, 'nginx'), files)

  const pageTargets = (size: number, extra = '') =>
    listFile(
      options.folder,
      `pages-${size}${extra}`,
      Array.from(
        { length: Math.floor(options.events / size) },
        (_, index) => `${list}?page=${index + 1}&pageSize=${size}${extra}`,
      ),
    )
  const ours = (what: string, targets: string, extra: Record<string, string> = {}): Case => ({
    subject: 'property-events',
    what,
    load: {
      url: sealed.url,
      script: 'get.lua',
      pid: sealed.pid,
      env: { TARGETS: targets, KEY: key, ...extra },
    },
  })
  const limit = (
    what: string,
    targets: readonly string[],
    extra: Record<string, string> = {},
  ): readonly Case[] =>
    nginx === undefined
      ? []
      : [
          {
            subject: 'nginx',
            what,
            load: {
              url: nginx.url,
              script: 'get.lua',
              env: {
                TARGETS: listFile(options.folder, `nginx-${what.replaceAll(/\W/g, '-')}`, targets),
                ...extra,
              },
            },
          },
        ]
  const pageFiles = Array.from({ length: pages }, (_, index) => `/pages/${index + 1}.json`)
  const gzip = { ACCEPT_ENCODING: 'gzip' }

  await measure(options, 'J1', [
    ...limit('page of 100', pageFiles),
    ours('page of 100', pageTargets(100)),
    ...limit('page of 100, gzip', pageFiles, gzip),
    ours('page of 100, gzip', pageTargets(100), gzip),
  ])
  await measure(options, 'J1 sizes', [
    ours('page of 10', pageTargets(10)),
    ours('page of 25', pageTargets(25)),
    ours('page of 25, gzip', pageTargets(25), gzip),
    ours('page of 1000', pageTargets(1_000)),
    ours('sales, page of 100', pageTargets(100, '&apiEventType=salesproperty')),
  ])
  await measure(options, 'J1 depth', [
    ours('first page', listFile(options.folder, 'first', [`${list}?page=1&pageSize=100`])),
    ours('last full page', listFile(options.folder, 'last', [`${list}?page=${pages}&pageSize=100`])),
  ])
  await measure(options, 'J2', [
    ...limit(
      'one event',
      ids.map((id) => `/events/${id}.json`),
    ),
    ours(
      'one event',
      listFile(
        options.folder,
        'ids',
        ids.map((id) => `${byId}/${id}`),
      ),
    ),
  ])
  const tag = await tagOf(`${sealed.url}${list}?page=${pages + 1}`, key)
  const head = listFile(options.folder, 'head', [`${list}?page=${pages + 1}`])
  await measure(options, 'J5', [
    ours('unchanged, with If-None-Match', head, { TAG: tag }),
    ours('unchanged, without', head),
  ])
}

async function getText(url: string, key: string): Promise<string> {
  const answer = await fetch(url, { headers: { 'x-api-key': key, 'accept-encoding': 'identity' } })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  return answer.text()
}

/** Answers are checked before they are timed: full pages hold exactly the numbers they must. */
async function checkedPageCount(url: string, key: string): Promise<number> {
  const first: { availableCount: number } = JSON.parse(await getText(`${url}${list}?pageSize=1`, key))
  const pages = Math.floor(first.availableCount / 100)
  for (const page of [1, Math.ceil(pages / 2), pages]) {
    const body: { items: { sequenceNumber: number }[] } = JSON.parse(
      await getText(`${url}${list}?page=${page}&pageSize=100`, key),
    )
    body.items.forEach((item, index) => {
      if (item.sequenceNumber !== (page - 1) * 100 + index + 1) throw new Error(`page ${page} is wrong`)
    })
    if (body.items.length !== 100) throw new Error(`page ${page} is not full`)
  }
  return pages
}

/** The same bytes as files for nginx: every page of 100, plain and gzipped, and a thousand single events. */
async function exportFiles(
  url: string,
  key: string,
  pages: number,
  files: string,
): Promise<readonly string[]> {
  mkdirSync(join(files, 'pages'), { recursive: true })
  mkdirSync(join(files, 'events'), { recursive: true })
  const ids: string[] = []
  for (let page = 1; page <= pages; page += 1) {
    const path = join(files, 'pages', `${page}.json`)
    const wanted = page % Math.ceil(pages / 100) === 0
    if (existsSync(`${path}.gz`) && !wanted) continue
    const text = await getText(`${url}${list}?page=${page}&pageSize=100`, key)
    writeFileSync(path, text)
    writeFileSync(`${path}.gz`, gzipSync(text, { level: 6 }))
    if (!wanted) continue
    const { items }: { items: { id: string }[] } = JSON.parse(text)
    for (const item of items) {
      ids.push(item.id)
      writeFileSync(join(files, 'events', `${item.id}.json`), JSON.stringify(item))
    }
  }
  return ids
}

/** Asks for every page until asking again changes nothing: then all full segments are sealed. */
async function sealEverything(url: string, key: string, pages: number): Promise<void> {
  for (let page = 1; page <= pages; page += 1) {
    for (const view of ['', '&apiEventType=salesproperty'])
      await getText(`${url}${list}?page=${page}&pageSize=100${view}`, key)
    // The sealer takes one segment at a time and forgets what it cannot hold: some 10 ms each.
    if (page % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function tagOf(url: string, key: string): Promise<string> {
  const answer = await fetch(url, { headers: { 'x-api-key': key, 'accept-encoding': 'identity' } })
  await answer.text()
  return answer.headers.get('etag') ?? ''
}
