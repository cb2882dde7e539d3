/**
 * The console in a real Chromium: first paint on loopback and on a slow line with a slow processor, frames while the whole feed is scrolled, what
 * the page of a property asks for, and what the console adds to `demo`. Prints a table, and writes `bench/results/console-<events>.json`.
 *
 *     node bench/console.ts [--events 1000000] [--runs 5] [--before FOLDER] [--results FOLDER]
 *
 * `--before` names a checkout of the build before the console, with its node_modules.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { browserProgram, startBrowser } from '../packages/server/test/support/browser.ts'
import { measureStarts } from './console/demo-start.ts'
import { measurePaints } from './console/paint.ts'
import type { Signed } from './console/paint.ts'
import { linesOf } from './console/results.ts'
import type { ConsoleResults, Size } from './console/results.ts'
import { measurePropertyPage, measureScrolling } from './console/scrolling.ts'
import { table } from './report/tables.ts'
import { machine } from './support/recorder.ts'
import { startService } from './support/service.ts'
import { benchFeed, filledStore, keysOf } from './support/store.ts'

const root = join(import.meta.dirname, '..')
const averageBytes = 500

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    before: { type: 'string' },
    results: { type: 'string', default: join(import.meta.dirname, 'results') },
  },
})
const [events, runs] = [Number(values.events), Number(values.runs)]
if (browserProgram === undefined)
  throw new Error('no Chromium is installed (Debian: apt-get install chromium)')

const starts = await measureStarts(values.before, runs)
const inBrowser = await measureInBrowser()
const results: ConsoleResults = {
  name: 'console',
  takenAt: new Date().toISOString(),
  machine: machine(),
  events,
  ...inBrowser,
  starts,
  sizes: ['console.js', 'console.css', 'index.html'].map(sizeOf),
}
mkdirSync(values.results, { recursive: true })
writeFileSync(join(values.results, `console-${events}.json`), `${JSON.stringify(results)}\n`)
const lines = linesOf(results).map(({ what, figure, aim }) => [what, figure, aim])
process.stdout.write(
  `${table(
    [
      ['what', 'left'],
      ['figure', 'right'],
      ['aim', 'right'],
    ],
    lines,
  )}\n`,
)

async function measureInBrowser(): Promise<
  Pick<ConsoleResults, 'browser' | 'paints' | 'scrolls' | 'propertyPage'>
> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-console-'))
  try {
    cpSync((await filledStore(events, averageBytes)).folder, folder, { recursive: true })
    const [readKey = ''] = await keysOf({ kind: 'sqlite', folder }, folder, [benchFeed.tenantId])
    await using service = await startService(folder, { args: ['--console'] })
    const browser = await startBrowser()
    try {
      const signed = await signIn(browser, folder)
      const page = (place: string): string => `${service.url}/console${place}`
      const tenant = `/tenants/${benchFeed.tenantId}`
      const feed = page(`${tenant}/feeds/property`)
      const subject = await someProperty(service.url, readKey)
      const pages = [
        { name: 'sign-in', url: page('/'), ready: '#key', signed: undefined },
        { name: 'overview', url: page('/'), ready: '.table tbody tr', signed },
        { name: 'feed', url: feed, ready: '[data-row]:not(.coming)', signed },
      ]
      return {
        browser: browser.version(),
        paints: await measurePaints(browser, pages, runs),
        scrolls: await measureScrolling(browser, feed, signed),
        propertyPage: await measurePropertyPage(
          browser,
          page(`${tenant}/properties/${subject}`),
          signed,
          runs,
        ),
      }
    } finally {
      await browser.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** With the link that `property-events console` prints, as an operator would. */
async function signIn(browser: Browser, folder: string): Promise<Signed> {
  const program = join(root, 'packages/cli/bin/property-events.mjs')
  const made = await promisify(execFile)(process.execPath, [program, 'console', '--json', '--data', folder])
  const { url }: { readonly url: string } = JSON.parse(made.stdout)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('main#view').waitFor()
  const signed = await context.storageState()
  await context.close()
  return signed
}

/** One from the middle of the feed. */
async function someProperty(url: string, key: string): Promise<string> {
  const path = `/v1/property-events?after=${Math.floor(events / 2)}&limit=1`
  const text = await (await fetch(`${url}${path}`, { headers: { 'x-api-key': key } })).text()
  const [, reference] = /agent_ref\\?":\\?"([^"\\]+)/.exec(text) ?? []
  if (reference === undefined) throw new Error(`no property in ${text.slice(0, 300)}`)
  return reference
}

function sizeOf(file: string): Size {
  const bytes = readFileSync(join(root, 'packages/console/built', file))
  return { file, bytes: bytes.length, gzippedBytes: gzipSync(bytes, { level: 9 }).length }
}
