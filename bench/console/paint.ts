/** How long pages take to show, in a browser with nothing in its cache. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { rounded } from '../support/figures.ts'
import type { Paint } from './results.ts'

/** The state of a browser that has signed in. */
export type Signed = Exclude<BrowserContextOptions['storageState'], string | undefined>

export interface PageToShow {
  readonly name: string
  readonly url: string
  /** The purpose of the page. */
  readonly ready: string
  readonly signed: Signed | undefined
}

interface Connection {
  readonly line: string
  /** `undefined`: as fast as the machine allows. */
  readonly slowed?: {
    readonly bitsPerSecond: number
    readonly roundTripMs: number
    readonly cpuTimes: number
  }
}

const connections: readonly Connection[] = [
  { line: 'loopback' },
  {
    line: '1.6 Mbit/s, processor 4 × slower',
    slowed: { bitsPerSecond: 1_600_000, roundTripMs: 0, cpuTimes: 4 },
  },
]

export async function measurePaints(
  browser: Browser,
  pages: readonly PageToShow[],
  runs: number,
): Promise<readonly Paint[]> {
  const paints: Paint[] = []
  for (const { line, slowed } of connections) {
    for (const page of pages) {
      const measured: { firstPaintMs: number; shownMs: number }[] = []
      // The first run warms up the machine and the service, which compress and compile what they did not need before.
      for (let run = 0; run <= runs; run += 1) measured.push(await load(browser, page, slowed))
      const counted = measured.slice(1)
      paints.push({
        page: page.name,
        line,
        firstPaintMs: counted.map(({ firstPaintMs }) => rounded(firstPaintMs)),
        shownMs: counted.map(({ shownMs }) => rounded(shownMs)),
      })
    }
  }
  return paints
}

async function load(
  browser: Browser,
  { url, ready, signed }: PageToShow,
  slowed: Connection['slowed'],
): Promise<{ firstPaintMs: number; shownMs: number }> {
  const context = await browser.newContext({
    viewport: { width: 1_440, height: 900 },
    ...(signed === undefined ? {} : { storageState: signed }),
  })
  try {
    await context.addInitScript({ content: `(${noteShown})(${JSON.stringify(ready)})` })
    const page = await context.newPage()
    if (slowed !== undefined) await slowDown(page, slowed)
    await page.goto(url)
    // The policy of the page forbids evaluating text in it, so the page cannot be told to wait for this itself.
    const isOver =
      'window.shownMs !== undefined && performance.getEntriesByName("first-contentful-paint").length > 0'
    while (!(await page.evaluate<boolean>(isOver))) await delay(50)
    return await page.evaluate<{ firstPaintMs: number; shownMs: number }>(
      '({ firstPaintMs: performance.getEntriesByName("first-contentful-paint")[0].startTime, shownMs: window.shownMs })',
    )
  } finally {
    await context.close()
  }
}

/** Runs in the page: notes the first frame that shows the element. */
const noteShown = `(ready) => {
  const look = () => {
    if (document.querySelector(ready) === null) requestAnimationFrame(look)
    else requestAnimationFrame(() => { window.shownMs = performance.now() })
  }
  requestAnimationFrame(look)
}`

async function slowDown(
  page: Page,
  { bitsPerSecond, roundTripMs, cpuTimes }: NonNullable<Connection['slowed']>,
): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: roundTripMs,
    downloadThroughput: bitsPerSecond / 8,
    uploadThroughput: bitsPerSecond / 8,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpuTimes })
}
