/** A page of the console in a real browser, and all that it asked for and complained of. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pictures = process.env['PROPERTY_EVENTS_TEST_SCREENSHOTS'] ?? ''
export const waitMs = 30_000

export interface Visit {
  readonly page: Page
  /** Addresses at other hosts than the service's. */
  readonly strangers: string[]
  /** Errors of scripts, messages of the console and violations of the policy. */
  readonly complaints: string[]
  readonly close: () => Promise<void>
}

export interface Look {
  readonly width: number
  readonly scheme: 'light' | 'dark'
}

export const everyLook: readonly Look[] = [360, 768, 1_440].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

export async function visit(browser: Browser, url: string, { width, scheme }: Look): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
  const page = await context.newPage()
  const strangers: string[] = []
  const complaints: string[] = []
  const { host } = new URL(url)
  page.on('request', (request) => {
    const address = request.url()
    if (!address.startsWith('data:') && new URL(address).host !== host) strangers.push(address)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    // The browser itself writes a line for each answer that is an error: some of these are asked for.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text())
  })
  const listen = `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`
  await page.addInitScript({ content: listen })
  await page.goto(url, { timeout: waitMs })
  return { page, strangers, complaints, close: () => context.close() }
}

/** The rules of axe-core find nothing. */
export async function hasNoFindings(page: Page, what: string): Promise<void> {
  await page.evaluate(axe)
  const findings = await page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  )
  assert.deepEqual(findings, [], what)
}

/** Nothing is off the screen at the side. */
export async function fitsItsWidth(page: Page, what: string): Promise<void> {
  const widths = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]')
  assert.ok(widths[0] <= widths[1], `${what}: ${widths[0]} of ${widths[1]} pixels`)
}

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const one = document.activeElement
    const label = one?.labels?.[0]?.textContent
    return (one?.getAttribute('aria-label') ?? label ?? one?.textContent ?? '').trim()
  })()`
  for (let presses = 0; presses < 100; presses += 1) {
    if ((await page.evaluate<string>(focused)) === name) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${name} is not reached with Tab`)
}

/** Kept where `PROPERTY_EVENTS_TEST_SCREENSHOTS` names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === '') return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}
