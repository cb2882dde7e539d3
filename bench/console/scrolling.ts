/** Frames while the list of a whole feed is scrolled, and the requests of a property's page. */
import type { Browser, Page } from 'playwright-core'
import { rounded } from '../support/figures.ts'
import type { Signed } from './paint.ts'
import type { PropertyPage, Scroll } from './results.ts'

/** Ten seconds, at 60 a second. */
const frames = 600

/** Pixels per frame; `undefined`: from end to end of the bar. */
const ways: readonly { readonly way: string; readonly step: number | undefined }[] = [
  { way: 'reading along', step: 12 },
  { way: 'a fling', step: 1_500 },
  { way: 'the bar from end to end', step: undefined },
]

const firstRow = '[data-row]:not(.coming)'

export async function measureScrolling(
  browser: Browser,
  feedUrl: string,
  signed: Signed,
): Promise<readonly Scroll[]> {
  const scrolls: Scroll[] = []
  for (const { way, step } of ways) {
    const { page, asked, close } = await opened(browser, signed)
    await page.goto(`${feedUrl}?number=1`)
    await page.locator(firstRow).first().waitFor()
    asked.length = 0
    const { frameMs, mostRows } = await page.evaluate<Pick<Scroll, 'frameMs' | 'mostRows'>>(
      `(${scroll})(${frames}, ${step ?? 'undefined'})`,
    )
    await page.locator('.seen .coming').first().waitFor({ state: 'detached' })
    const pagesAsked = asked.filter((path) => path.includes('getevents') || path.includes('-events?')).length
    scrolls.push({ way, frameMs: frameMs.map(rounded), mostRows, pagesAsked })
    await close()
  }
  return scrolls
}

/** Runs in the page. The first frames belong to the work before it. */
const scroll = `(frames, step) => new Promise((resolve) => {
  const scroller = document.querySelector('[role=grid]')
  const perFrame = step ?? (scroller.scrollHeight - scroller.clientHeight) / frames
  scroller.scrollTop = 0
  const times = []
  let mostRows = 0
  const move = (at) => {
    times.push(at)
    mostRows = Math.max(mostRows, document.querySelectorAll('[data-row]').length)
    scroller.scrollTop += perFrame
    if (times.length <= frames + 5) requestAnimationFrame(move)
    else resolve({ frameMs: times.slice(6).map((time, n) => time - times[n + 5]), mostRows })
  }
  requestAnimationFrame(move)
})`

export async function measurePropertyPage(
  browser: Browser,
  url: string,
  signed: Signed,
  runs: number,
): Promise<PropertyPage> {
  const shownMs: number[] = []
  let requests: readonly string[] = []
  const reference = url.slice(url.lastIndexOf('/'))
  for (let run = 0; run <= runs; run += 1) {
    const { page, asked, close } = await opened(browser, signed)
    await page.goto(url)
    await page.locator('.timeline > li').first().waitFor()
    await page.locator('.answer').first().waitFor()
    shownMs.push(rounded(await page.evaluate<number>('performance.now()')))
    requests = asked.filter((path) => path.includes('/api/') && path.includes(reference))
    await close()
  }
  return { requests, shownMs: shownMs.slice(1) }
}

async function opened(
  browser: Browser,
  signed: Signed,
): Promise<{ page: Page; asked: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, storageState: signed })
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    asked.push(pathname + search)
  })
  return { page, asked, close: () => context.close() }
}
