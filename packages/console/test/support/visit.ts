/** A page of the console in a real browser, and all that it asked for and complained of. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pictures = process.env['PROPERTY_EVENTS_TEST_SCREENSHOTS'] ?? ''
export const waitMs = 30_000

export interface Visit {
  readonly page: Page
  /** Addresses at other hosts than the service's. */
  readonly strangers: string[]
  /** Errors of scripts, messages of the console and violations of the policy. */
  readonly complaints: string[]
  /** Ends it. Fails for a stranger or a complaint. */
  readonly close: () => Promise<void>
}

export interface Look {
  readonly width: number
  readonly scheme: 'light' | 'dark'
}

export const everyLook: readonly Look[] = [360, 768, 1_440].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
)

/** What a visit begins with beside its look. */
export interface VisitOptions {
  /** For a certificate that nobody has signed. */
  readonly ignoreHTTPSErrors?: boolean
}

/** Closing it fails where any page of it asked another host for something or had something to complain of. */
export async function visit(
  browser: Browser,
  url: string,
  { width, scheme }: Look,
  options: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    ...options,
  })
  const { strangers, complaints } = listenTo(context, new URL(url).host)
  const listen = `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`
  await context.addInitScript({ content: listen })
  const page = await context.newPage()
  await page.goto(url, { timeout: waitMs })
  return {
    page,
    strangers,
    complaints,
    close: async () => {
      await context.close()
      assert.deepEqual({ strangers, complaints }, { strangers: [], complaints: [] }, url)
    },
  }
}

function listenTo(context: BrowserContext, host: string): Pick<Visit, 'strangers' | 'complaints'> {
  const strangers: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => {
    const address = request.url()
    if (!/^(?:data|blob):/.test(address) && new URL(address).host !== host) strangers.push(address)
  })
  context.on('weberror', (error) => complaints.push(error.error().message))
  context.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('console', (message) => {
    // The browser itself writes a line for each answer that is an error: some of these are asked for.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text())
  })
  return { strangers, complaints }
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
