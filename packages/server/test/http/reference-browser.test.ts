/** The page at `/docs` in a real browser, under its own policy: what a reader sees and does there, and what the browser does not do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../support/browser.ts'
import { call } from '../support/http-client.ts'
import { isLongRun } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const waitMs = 30_000

/** One of each kind. The whole page takes half a minute on a slow machine. */
const someParts = `{ include: ['header', 'nav', '#start', '#listPropertyEvents', '#code-status', '#MediaItem', '#event-types', '#limits'] }`

interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Everything that the browser asked for. */
  readonly asked: readonly string[]
  /** Errors of scripts, messages of the console and violations of the policy. */
  readonly complaints: readonly string[]
}

/** The browser tells of a change of the address a moment after it. */
async function reaches(page: Page, anchor: string): Promise<void> {
  await page.waitForURL((url) => url.hash === anchor, { timeout: waitMs })
}

describe('the reference in a browser', withBrowser, () => {
  const prefix = '/feeds'
  let service: TestService
  let browser: Browser

  before(async () => {
    service = await startTestService({ basePath: prefix })
    browser = await startBrowser()
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function visit(width: number, colorScheme: 'light' | 'dark' = 'light'): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
    const page = await context.newPage()
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    const listen = `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))`
    await page.addInitScript({ content: listen })
    await page.goto(`${service.url}/docs`, { timeout: waitMs })
    return { page, context, asked, complaints }
  }

  it('requests only the page, under its policy and without a complaint, and fits a phone (D9, D21)', async () => {
    const { page, context, asked, complaints } = await visit(360)
    await page.getByRole('button', { name: 'Contents' }).click()
    await page.getByRole('link', { name: 'GET Get one property event' }).click()
    await reaches(page, '#getPropertyEvent')
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
    assert.equal(isTooWide, false, 'nothing is off the screen')
    assert.deepEqual(asked, [`${service.url}/docs`])
    assert.deepEqual(complaints, [])
    await context.close()
  })

  it('finds an operation, a code and a problem from the keyboard (D21)', async () => {
    const { page, context, complaints } = await visit(1440)
    for (const [words, anchor] of [
      ['list property', '#listPropertyEvents'],
      ['let agreed', '#code-status-6'],
      ['price qualifier', '#code-price-qualifier'],
      ['epoch_changed', '#epoch_changed'],
    ] as const) {
      await page.keyboard.press('/')
      await page.keyboard.type(words)
      await page.getByRole('option').first().waitFor({ timeout: waitMs })
      await page.keyboard.press('Enter')
      await reaches(page, anchor)
    }
    assert.deepEqual(complaints, [])
    await context.close()
  })

  it('remembers the language of the samples, and shows its own address in them (D21)', async () => {
    const { page, context } = await visit(1440)
    const section = page.locator('#readHeads')
    await section.getByRole('button', { name: 'PHP' }).click()
    await page.reload()
    assert.equal(await section.locator('figure[data-language=php]').isVisible(), true)
    assert.equal(await section.locator('figure[data-language=curl]').isVisible(), false)
    assert.ok((await page.locator('#start pre').innerText()).includes(`URL=${service.url} `))
    await context.close()
  })

  it('tries an operation with a key that stays in memory: in no address, log or store of the browser (D7, D21)', async () => {
    const { tenant, logLines } = service
    const stored = await call(service, `${prefix}/v1/property-events`, {
      method: 'POST',
      key: tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: property() }),
    })
    assert.equal(stored.status, 201)
    const { page, context, asked, complaints } = await visit(1440)
    const section = page.locator('#listPropertyEvents')
    await section.getByRole('button', { name: 'Try it' }).click()
    await section.getByLabel('Key', { exact: true }).fill(tenant.readKey)
    await section.getByRole('button', { name: 'Send' }).click()
    await section.getByRole('region', { name: 'Answer' }).waitFor({ timeout: waitMs })
    assert.match(await section.getByRole('status').innerText(), /^200 /)
    assert.match(await section.getByRole('region', { name: 'Answer' }).innerText(), /"sequenceNumber": 1,/)
    // The next panel has the key already; what stores something is a dry run unless the reader says otherwise.
    const publishing = page.locator('#publishPropertyEvents')
    await publishing.getByRole('button', { name: 'Try it' }).click()
    assert.equal(await publishing.getByLabel('Key', { exact: true }).inputValue(), tenant.readKey)
    assert.equal(await publishing.getByLabel('dryRun').inputValue(), 'true')
    await publishing.getByLabel('Key', { exact: true }).fill(tenant.publishKey)
    await publishing.getByRole('button', { name: 'Send' }).click()
    await publishing.getByRole('region', { name: 'Answer' }).waitFor({ timeout: waitMs })
    assert.match(await publishing.getByRole('status').innerText(), /^200 /)

    const places = '[{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]'
    const kept = await page.evaluate<string>(`JSON.stringify(${places})`)
    for (const key of [tenant.readKey, tenant.publishKey]) {
      assert.ok(!kept.includes(key))
      assert.ok(!asked.some((url) => url.includes(key)))
      assert.ok(!logLines.some((line) => line.includes(key)))
    }
    assert.ok(asked.every((url) => url.startsWith(service.url)))
    assert.deepEqual(complaints, [])
    // The key of all panels is now the one that publishes. A refusal leads to what to do about it; the console tells of it by itself.
    await section.getByRole('button', { name: 'Send' }).click()
    await section.getByRole('status').getByRole('link', { name: 'key_scope' }).click({ timeout: waitMs })
    await reaches(page, '#key_scope')
    await page.reload()
    await section.getByRole('button', { name: 'Try it' }).click()
    assert.equal(await section.getByLabel('Key', { exact: true }).inputValue(), '')
    await context.close()
  })

  const looks = [
    [360, 'light'],
    [360, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const
  for (const [width, colours] of isLongRun ? looks : looks.slice(0, 1)) {
    it(`keeps to the rules of accessibility, ${width} px wide and ${colours} (D21)`, async () => {
      const { page, context } = await visit(width, colours)
      const section = page.locator('#listPropertyEvents')
      await section.getByRole('button', { name: 'Try it' }).click()
      // Else the header would lie over some of the text, and its contrast could not be told.
      await page.evaluate('scrollTo(0, 0)')
      await page.evaluate(axe)
      const { violations, incomplete } = await page.evaluate<AxeResults>(
        `axe.run(${isLongRun ? 'document' : someParts})`,
      )
      // A contrast that it could not make out is a finding too.
      const unsure = incomplete.filter(({ id }) => id === 'color-contrast')
      const findings = [...violations, ...unsure].map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map(({ html }) => html)
            .slice(0, 3)
            .join(' ')}`,
      )
      assert.deepEqual(findings, [])
      await context.close()
    })
  }
})

interface AxeResult {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

interface AxeResults {
  readonly violations: readonly AxeResult[]
  readonly incomplete: readonly AxeResult[]
}
