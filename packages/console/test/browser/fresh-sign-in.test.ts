/** What the door allows shortly after signing in alone: the console asks for the key or a link, and goes on with what was wanted. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { makeLoginLink } from '../../../server/src/index.ts'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { call, publish } from '../../../server/test/support/http-client.ts'
import { contact } from '../../../server/test/support/property.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { hasNoFindings, waitMs } from '../support/visit.ts'

const minuteMs = 60_000

describe('a session that is no longer fresh', withBrowser, () => {
  let aheadMs = 0
  const clock = (): number => Date.now() + aheadMs
  let service: ConsoleService
  let browser: Browser
  const contactRef = randomUUID()
  const of = (path: string): string => `/tenants/${service.tenant.tenantId}${path}`

  before(async () => {
    service = await startConsoleService({ clock })
    await publish(
      service,
      { payload: contact({ contact_ref: contactRef, last_name: 'Quillon' }) },
      { feed: 'contact' },
    )
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  async function signedInBefore(): Promise<SignedIn> {
    const visitor = await signedIn(browser, service, service.operatorKey)
    aheadMs += 6 * minuteMs
    return visitor
  }

  /** As `property-events console` makes it without --key: of a key of its own, whose text nobody has seen. */
  async function freshLink(): Promise<string> {
    const { keyId } = await service.issue({ operator: true, adminScopes: [...adminScopes] })
    const secret = await makeLoginLink(service.storage.consoleSessions, keyId, clock())
    return `${service.url}/console/#login=${secret}`
  }

  /** A dialog asks for the key. */
  async function isAsked(page: Page): Promise<void> {
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).waitFor()
  }

  async function actionsOnRecord(action: string): Promise<number> {
    const { text } = await call(service, `/v1/admin/audit?action=${action}`, { key: service.operatorKey })
    const { items }: { readonly items: readonly unknown[] } = JSON.parse(text)
    return items.length
  }

  it('reveals a contact after the key is pasted again, but not after a wrong key (PROTOCOL §15.4)', async () => {
    const { page, go, close } = await signedInBefore()
    await go(of(`/contacts/${contactRef}`))
    await page.getByRole('button', { name: 'Show in full …' }).click()
    await page.getByLabel('Reason').selectOption('support')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await isAsked(page)
    await hasNoFindings(page, 'the key again')
    assert.equal(await actionsOnRecord('contact.revealed'), 0)
    await page.getByLabel('Key', { exact: true }).fill(`${service.operatorKey.slice(0, -1)}-`)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('#key-fault').waitFor()
    await page.getByLabel('Key', { exact: true }).fill(service.operatorKey)
    await page.keyboard.press('Enter')
    await page.getByText('Quillon').waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await actionsOnRecord('contact.revealed'), 1)
    await close()
  })

  it('issues an operator key as filled in, after a fresh link is pasted (PROTOCOL §15.4)', async () => {
    const { page, go, close } = await signedInBefore()
    await go('/keys')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    await page.getByLabel('Label: what uses the key').fill('Night shift')
    await page.keyboard.press('Enter')
    await isAsked(page)
    await page.getByLabel('Key', { exact: true }).fill(await freshLink())
    await page.keyboard.press('Enter')
    await page.locator('.issued .secret').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('rowheader', { name: 'Night shift' }).waitFor()
    await close()
  })

  it('erases what was counted, after a link is opened in another tab and a button is pressed (PROTOCOL §15.4)', async () => {
    const person = randomUUID()
    await publish(service, { payload: contact({ contact_ref: person }) }, { feed: 'contact' })
    const { page, go, close } = await signedInBefore()
    await go(of('/erasures'))
    await page.getByRole('button', { name: 'Erase …' }).click()
    await page.getByLabel('Reference', { exact: true }).fill(person)
    await page.getByLabel('Reason').selectOption('data_subject_request')
    await page.getByRole('button', { name: 'Preview erasure' }).click()
    await page.getByLabel('Type the reference again').fill(person)
    await page.getByRole('button', { name: 'Erase permanently' }).click()
    await isAsked(page)
    const tab = await page.context().newPage()
    await tab.goto(await freshLink(), { timeout: waitMs })
    await tab.locator('main#view').waitFor({ timeout: waitMs })
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    await page.getByLabel('Key', { exact: true }).waitFor({ state: 'detached' })
    assert.equal(await actionsOnRecord('erasure.begun'), 0, 'whoever opened the link may be somebody else')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(/The page Erasures shows the progress/).waitFor()
    await close()
  })
})
