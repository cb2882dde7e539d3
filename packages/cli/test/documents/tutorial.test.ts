/**
 * docs/tutorial.md, followed literally: in an empty folder with an empty home, in terminals, by its commands alone. What it ends with is
 * opened in a real Chromium and compared with the feed.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, beforeEach, describe, it } from 'node:test'
import { browserProgram, startBrowser } from '../../../server/test/support/browser.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { blocksIn, textOf } from '../support/documents.ts'
import { lendPackages, makeCloneSource } from '../support/tutorial/clone-source.ts'
import { expectedPages } from '../support/tutorial/expected-page.ts'
import type { ExpectedPages } from '../support/tutorial/expected-page.ts'
import { hasTerminals, openTerminal } from '../support/tutorial/terminal.ts'
import type { Terminal } from '../support/tutorial/terminal.ts'

const waitMs = 60_000
const hasPhp = spawnSync('php', ['-r', "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"]).status === 0
const skip = hasTerminals ? false : 'there is no program `script` (util-linux) here: not tried'
const homeReference = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

/** The blocks of one terminal, in their order. */
const blocks = blocksIn('docs/tutorial.md', textOf('docs/tutorial.md')).filter(
  ({ language }) => language === 'sh',
)

/** How this machine reaches the registry: it stands in the environment, and not in the home that the reader begins with. */
function registryAccess(): NodeJS.ProcessEnv {
  const known =
    /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:HTTPS?|NO)_PROXY|npm_config_(?:registry|cafile|proxy|https_proxy))$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => known.test(name)))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('the tutorial', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-tutorial-'))
  const desk = join(folder, 'desk')
  const terminals: Record<string, Terminal> = {}
  const startedMs = performance.now()
  let variables: { readonly url: string; readonly readKey: string }
  let site: string
  let phpSite: string
  let taken = 0

  /** The next block of the document, which must be for this terminal. */
  function next(terminal: string): string {
    const block = blocks[taken]
    taken += 1
    assert.equal(block?.mark, terminal, `block ${taken} of the tutorial is for the terminal "${terminal}"`)
    return (block?.text ?? '').replaceAll('127.0.0.1:8090', new URL(terminal === 'php' ? phpSite : site).host)
  }

  function at(name: string): Terminal {
    const terminal = terminals[name]
    if (terminal === undefined) throw new Error(`There is no terminal ${name}`)
    return terminal
  }

  before(async () => {
    makeCloneSource(join(folder, 'source'))
    mkdirSync(desk)
    mkdirSync(join(folder, 'home'))
    const [port, sitePort, phpPort] = await Promise.all([freePort(), freePort(), freePort()])
    site = `http://127.0.0.1:${sitePort}`
    phpSite = `http://127.0.0.1:${phpPort}`
    // The ports of the document may be taken on this machine: others are set from outside, and the commands stay as they are.
    const environment = {
      ...registryAccess(),
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      HOME: join(folder, 'home'),
      REPOSITORY: join(folder, 'source'),
      PROPERTY_EVENTS_PORT: String(port),
      PROPERTY_EVENTS_METRICS_PORT: '0',
      PORT: String(sitePort),
    }
    for (const name of ['first', 'second', 'third', 'php', 'fourth'])
      terminals[name] = openTerminal(desk, environment)
  })

  // A reader takes minutes between two sections, while the market goes on (docs/testing.md).
  beforeEach(async () => {
    if (taken > 0) await delay(1_000 * Number(process.env['PROPERTY_EVENTS_TEST_PAUSE_SECONDS'] ?? 0))
  })

  after(async () => {
    await Promise.all(Object.values(terminals).map((terminal) => terminal.close()))
    rmSync(folder, { recursive: true, force: true })
  })

  async function pageOf(
    path: string,
    from = site,
  ): Promise<{ readonly status: number; readonly html: string }> {
    const answer = await fetch(`${from}${path}`)
    return { status: answer.status, html: await answer.text() }
  }

  async function until(path: string, isThere: (page: { status: number; html: string }) => boolean) {
    const endMs = performance.now() + waitMs
    for (;;) {
      const page = await pageOf(path)
      if (isThere(page)) return page
      if (performance.now() > endMs)
        assert.fail(`${path} is not as the tutorial says:\n${page.status} ${page.html}`)
      await delay(100)
    }
  }

  it('starts a market, and a second terminal reads its feed', async () => {
    const [clone = '', ...starting] = next('first').split('\n')
    await at('first').run(clone)
    // The packages are those that are here; the long tests download them into the clone, as the reader does.
    if (!isLongRun) lendPackages(join(desk, 'property-events'))
    await at('first').runUntil(starting.join('\n'), /^export PROPERTY_EVENTS_URL=.*[^]*^eval /m)
    const screen = await at('second').run(next('second'))
    assert.match(screen, /"items":\[\{"tenantId"/)
    const printed = await at('second').run('npx property-events env --json')
    variables = JSON.parse(/\{"url".*\}/.exec(printed)?.[0] ?? '') as typeof variables
  })

  it('keeps a copy, and shows it in TypeScript and in PHP', async () => {
    assert.match(await at('second').run(next('second')), /the copy holds [345]\d\d/)
    await at('second').runUntil(next('second'), /$/)
    await at('third').runUntil(next('third'), /The website is at /)
    const inPhp = next('php')
    if (hasPhp) {
      await at('php').runUntil(inPhp, /Development Server/)
      assert.equal((await pageOf('/', phpSite)).status, 200)
    } else process.stdout.write('# no PHP with PDO for SQLite here: the page in PHP is not tried\n')
    assert.equal((await pageOf('/')).status, 200)
  })

  it('publishes a home, reduces it and sells it, and the page follows', async () => {
    const page = `/listings/${homeReference}`
    assert.equal((await pageOf(page)).status, 404)
    await at('fourth').run(next('fourth'))
    const listed = await until(page, ({ status }) => status === 200)
    assert.match(
      listed.html,
      /Offers over £450,000[^]*Detached house[^]*MILL-LANE\/01-front\.webp[^]*02-garden\.webp/,
    )
    await at('fourth').run(next('fourth'))
    await until(page, ({ html }) =>
      /Offers over £425,000[^]*Reduced from £450,000 on \d{4}-\d\d-\d\d/.test(html),
    )
    await at('fourth').run(next('fourth'))
    await until(page, ({ status }) => status === 410)
    assert.match(await at('fourth').run(next('fourth')), /HTTP\/1\.1 410 Gone/)
  })

  it('shows the page while the service is away, and follows when it is back', async () => {
    await at('first').pressControlC()
    await at('second').shows(/does not answer/)
    assert.equal((await pageOf('/')).status, 200)
    await at('first').runUntil(next('first'), /^export PROPERTY_EVENTS_URL=.*[^]*^eval /m)
    await at('second').shows(/answers again/)
  })

  it('ends with a page that shows what the feed says: each live home, its price and photographs, and no other', async () => {
    const expected = await expectedPages(variables.url, variables.readKey)
    assert.ok(expected.live.size >= 300 && expected.gone.size >= 100)
    const countOf = (category: string) =>
      [...expected.live.values()].filter((home) => home.category === category).length
    await until('/', ({ html }) => html.includes(`: ${countOf('sales')} homes`))
    await until('/to-let', ({ html }) => html.includes(`: ${countOf('lettings')} homes`))
    const screen = await at('fourth').run(next('fourth'))
    assert.match(screen, new RegExp(`the copy holds ${expected.live.size}\\b`))
    assert.equal(taken, blocks.length, 'every block of the tutorial was run')

    await compareLists(expected)
    await comparePages(expected, site)
    if (hasPhp) await comparePages(isLongRun ? expected : someOf(expected), phpSite)
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    process.stdout.write(`# the commands of the tutorial took ${seconds} s\n`)
  })

  async function compareLists(expected: ExpectedPages): Promise<void> {
    if (browserProgram === undefined) {
      process.stdout.write('# no Chromium is installed here: the lists are compared as text\n')
      for (const [path, category] of lists) await compareList(expected, category, (await pageOf(path)).html)
      return
    }
    const browser = await startBrowser()
    try {
      // The page allows no scripts, and the test asks by scripts whether the photographs are there.
      const page = await browser.newPage({ viewport: { width: 1280, height: 1600 }, bypassCSP: true })
      for (const [path, category] of lists) {
        await page.goto(`${site}${path}`, { timeout: waitMs })
        await page.waitForFunction(
          '[...document.images].slice(0, 8).every((image) => image.complete && image.naturalWidth > 0)',
        )
        const screenshot = process.env['PROPERTY_EVENTS_TUTORIAL_SCREENSHOTS']
        if (screenshot !== undefined) {
          if (!existsSync(screenshot)) mkdirSync(screenshot, { recursive: true })
          writeFileSync(join(screenshot, `${category}.png`), await page.screenshot())
        }
        await compareList(expected, category, await page.content())
      }
      const [reference = ''] = [...expected.live.keys()]
      await page.goto(`${site}/listings/${reference}`, { timeout: waitMs })
      await page.waitForFunction(
        '[...document.images].every((image) => image.complete && image.naturalWidth > 0)',
      )
    } finally {
      await browser.close()
    }
  }

  /** Twenty of each: the page in PHP makes the same queries. */
  function someOf({ live, gone }: ExpectedPages): ExpectedPages {
    return { live: new Map([...live].slice(0, 20)), gone: new Set([...gone].slice(0, 20)) }
  }

  const lists = [
    ['/', 'sales'],
    ['/to-let', 'lettings'],
  ] as const

  async function compareList(expected: ExpectedPages, category: string, html: string): Promise<void> {
    const shown = new Map<string, readonly string[]>()
    for (const [, reference = '', card = ''] of html.matchAll(
      /<li data-reference="([^"]+)">([^]*?)<\/li>/g,
    )) {
      const [, image = ''] = /<img[^>]* src="([^"]*)"/.exec(card) ?? []
      const [, price = ''] = /<div class="price">([^<]*)</.exec(card) ?? []
      shown.set(reference, [price, image])
    }
    const wanted = [...expected.live].filter(([, home]) => home.category === category)
    assert.equal(shown.size, wanted.length)
    for (const [reference, home] of wanted)
      assert.deepEqual(shown.get(reference), [home.priceText, home.photographs[0] ?? ''])
    const [, [, sample = ''] = []] = [...shown][0] ?? []
    const picture = await fetch(sample)
    assert.equal(picture.headers.get('content-type'), 'image/webp')
    await picture.bytes()
  }

  /** The page of each home that is live, and 410 for each that is not. */
  async function comparePages({ live, gone }: ExpectedPages, from: string): Promise<void> {
    for (const [reference, home] of live) {
      const { status, html } = await pageOf(`/listings/${reference}`, from)
      assert.equal(status, 200)
      const photographs = [...html.matchAll(/<li class="photograph"><img[^>]* src="([^"]*)"/g)].map(
        ([, url]) => url,
      )
      assert.deepEqual(photographs, home.photographs)
      assert.ok(html.includes(`<div class="price">${home.priceText}</div>`), home.priceText)
    }
    for (const reference of gone)
      assert.equal((await pageOf(`/listings/${reference}`, from)).status, 410, reference)
    assert.equal((await pageOf('/listings/9d0c5b1e-62f7-4c1a-8a39-f04be7d25163', from)).status, 404)
  }
})
