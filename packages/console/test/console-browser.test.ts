/** The console at its door, in a real browser: from a link or a key to what somebody came for. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { makeLoginLink } from '../../server/src/index.ts'
import { startBrowser, withBrowser } from '../../server/test/support/browser.ts'
import { call } from '../../server/test/support/http-client.ts'
import { property } from '../../server/test/support/property.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { visit, waitMs } from './support/visit.ts'
import type { Look, Visit } from './support/visit.ts'

const wide: Look = { width: 1_440, scheme: 'light' }
const home = property({
  address: {
    address_2: 'Mill Lane',
    town: 'Aylsham',
    display_address: 'Mill Lane, Aylsham',
    postcode_1: 'NR11',
    postcode_2: '6AB',
  },
})

describe('the console in a browser', withBrowser, () => {
  const basePath = '/feeds'
  let service: TestService
  let browser: Browser
  let operator: { readonly text: string; readonly keyId: string }

  before(async () => {
    service = await startTestService({ basePath, console: { folder: join(import.meta.dirname, '../built') } })
    operator = await service.issue({ operator: true, adminScopes })
    await publishAll([{ payload: home }, { payload: property() }])
    browser = await startBrowser()
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function publishAll(events: readonly object[]): Promise<void> {
    const { status } = await call(service, `${basePath}/v1/property-events`, {
      method: 'POST',
      key: service.tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    })
    assert.equal(status, 201)
  }

  function open(path: string): Promise<Visit> {
    return visit(browser, `${service.url}/console${path}`, wide)
  }

  async function signIn(page: Page, key: string): Promise<void> {
    await page.getByLabel('Key', { exact: true }).fill(key, { timeout: waitMs })
    await page.keyboard.press('Enter')
  }

  it('leads from a link to the overview, keeps its secret out of the address, and takes it once (D31)', async () => {
    const secret = await makeLoginLink(service.storage.consoleSessions, operator.keyId, Date.now())
    const { page, close } = await open(`/#login=${secret}`)
    await page.getByRole('rowheader', { name: 'First' }).waitFor({ timeout: waitMs })
    assert.equal(page.url(), `${service.url}/console/`)
    assert.equal(await page.evaluate(`history.length`), 2, 'the link is no place to go back to')
    await page.reload()
    await page.getByRole('rowheader', { name: 'First' }).waitFor({ timeout: waitMs })
    const second = await open(`/#login=${secret}`)
    await second.page
      .getByRole('alert')
      .getByText('property-events console')
      .first()
      .waitFor({ timeout: waitMs })
    await page.getByText('test', { exact: true }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Key', { exact: true }).waitFor({ timeout: waitMs })
    await page.reload()
    await page.getByLabel('Key', { exact: true }).waitFor({ timeout: waitMs })
    await Promise.all([close(), second.close()])
  })

  it('works by keyboard alone: sign in, find a property by its postcode, read the answer (D31)', async () => {
    const { page, close } = await open(`/tenants/${service.tenant.tenantId}/feeds/property`)
    await page.getByLabel('Key', { exact: true }).waitFor({ timeout: waitMs })
    await page.keyboard.press('Tab')
    await page.keyboard.type(operator.text)
    await page.keyboard.press('Enter')
    await page.getByRole('grid').waitFor({ timeout: waitMs })
    await page.keyboard.press('/')
    await page.keyboard.type('nr11 6ab')
    await page
      .getByRole('dialog')
      .getByRole('option', { name: /Mill Lane, Aylsham/ })
      .waitFor({ timeout: waitMs })
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.endsWith(`/properties/${home.agent_ref}`), {
      timeout: waitMs,
    })
    await page
      .getByRole('heading', { name: /Mill Lane, Aylsham/ })
      .first()
      .waitFor({ timeout: waitMs })
    await close()
  })

  it('shows a reading key only its own feed, and new events by themselves (P10)', async () => {
    const { page, close } = await open('/')
    await signIn(page, service.tenant.readKey)
    await page.waitForURL((url) => url.pathname.endsWith('/feeds/property'), { timeout: waitMs })
    assert.equal(await page.getByRole('link', { name: 'Overview' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: /[Kk]eys/ }).count(), 0)
    const rows = page.locator('[data-row]:not(.coming)')
    await rows.first().waitFor({ timeout: waitMs })
    await publishAll([{ payload: property({ address: { display_address: 'Just now, Ely' } }) }])
    await page.getByText('Just now, Ely').waitFor({ timeout: waitMs })
    await page.goto(`${service.url}/console/tenants/${service.otherTenant.tenantId}/feeds/property`)
    await page.getByText('may not see this').waitFor({ timeout: waitMs })
    await close()
  })

  it('shows the sign-in moments after its key ends, and says why (PROTOCOL §2.5)', async () => {
    const issued = await service.issue({ operator: true, adminScopes })
    const { page, close } = await open('/')
    await signIn(page, issued.text)
    await page.getByRole('rowheader', { name: 'First' }).waitFor({ timeout: waitMs })
    await service.storage.keys.revokeKey(issued.keyId, Date.now(), 'cli:test')
    await page.getByLabel('Key', { exact: true }).waitFor({ timeout: waitMs })
    assert.match(await page.getByRole('alert').innerText(), /revoked/)
    await close()
  })
})
