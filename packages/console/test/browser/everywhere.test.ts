/** What an operator sees of all agencies in a real browser: what needs somebody, and something found by what was pasted. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { contact, property } from '../../../server/test/support/property.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { everyLook, fitsItsWidth, hasNoFindings, picture } from '../support/visit.ts'

describe('all agencies in the console', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  let operator: SignedIn
  let website = { text: '', keyId: '' }
  const agency = { tenantId: randomUUID(), name: 'Garthwick Moor' }
  const agentRef = randomUUID()
  const contactRef = randomUUID()

  before(async () => {
    service = await startConsoleService()
    const { storage } = service
    const nowMs = Date.now()
    for (const one of [{ tenantId: randomUUID(), name: 'Orrell Thackerby' }, agency])
      await storage.tenants.createTenant({ ...one, createdMs: nowMs, suspended: false }, 'service')
    const { tenantId } = agency
    const publisher = await service.issue({
      grants: [{ tenantId, scopes: ['property:publish', 'contact:publish'] }],
    })
    website = await service.issue({ label: 'website', grants: [{ tenantId, scopes: ['property:read'] }] })
    const address = { display_address: '12 Mill Lane, Aylsham', postcode_1: 'NR11', postcode_2: '6AB' }
    await publish(service, { payload: property({ agent_ref: agentRef, address }) }, { key: publisher.text })
    for (const [branch_id, last_name] of [
      ['HQ', 'Quillon'],
      ['North', 'Thackerby'],
    ]) {
      const payload = contact({ contact_ref: contactRef, branch_id, last_name })
      await publish(service, { payload }, { key: publisher.text, feed: 'contact' })
    }
    const refusal = { keyId: website.keyId, name: 'default', tenantId, code: 'key_expired', status: 401 }
    await storage.consumers.addRefusals([
      { ...refusal, sinceMs: nowMs - 7_200_000, lastMs: nowMs - 60_000, count: 72 },
    ])
    browser = await startBrowser()
    operator = await signedIn(browser, service, service.operatorKey)
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  it('has a card for a fault of any agency, which names the agency and leads there, and requests the rows once (PROTOCOL §12.11)', async () => {
    const { page, go, asked } = operator
    // Signing in has led to the overview, which may still be asking.
    await go('/nowhere')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    asked.length = 0
    await go('/')
    const card = page.getByText('Garthwick Moor: key “website” has expired, and is still used: 72 refusals')
    await card.waitFor()
    await page.getByText('no readers').first().waitFor()
    const facts = asked.filter((address) => /\/(tenant-facts|feeds|rate|consumers)\b/.test(address))
    assert.equal(facts.length, 1, facts.join('\n'))
    await page.getByRole('link', { name: 'View key' }).click()
    await page.waitForURL(`**/tenants/${agency.tenantId}/keys?key=${website.keyId}`)
  })

  /** Pastes a text where another agency is chosen, waits for a line, and goes there by Enter. */
  async function find(text: string, line: RegExp, path: string): Promise<void> {
    const { page, go } = operator
    await go(`/tenants/${service.tenant.tenantId}/keys`)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'An id, number' }).fill(text)
    await page.getByRole('option', { name: line }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console${path}`)
  }

  it('opens what is pasted, whichever agency it belongs to, and says how far it has searched (PROTOCOL §12.12)', async () => {
    const of = `/tenants/${agency.tenantId}`
    await find(agentRef, /^Property 12 Mill Lane/, `${of}/properties/${agentRef}`)
    await find(
      'nr11 6ab',
      /^Property 12 Mill Lane, Aylsham, NR11 6AB · Garthwick Moor/,
      `${of}/properties/${agentRef}`,
    )
    await find('mill lane', /Garthwick Moor/, `${of}/properties/${agentRef}`)
    await find(contactRef, /^Contact/, `${of}/contacts/${contactRef}`)
    await find(website.text, /^Key website/, `${of}/keys?key=${website.keyId}`)
    await find('garthwick', /^Agency Garthwick Moor/, `${of}/feeds/property`)
    const { page } = operator
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'An id, number' }).fill('nowhere street')
    await page.getByText('All 4 agencies were searched.').waitFor()
    await page.getByText('No results.').waitFor()
    await page.keyboard.press('Escape')
  })

  it('takes a key that is pressed the moment the view is shown (D31)', async () => {
    const { page, go } = operator
    const content = `new MutationObserver((changes, observer) => {
      if (document.querySelector('header.head') === null) return
      observer.disconnect()
      dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))
    }).observe(document, { childList: true, subtree: true })`
    const script = await page.addInitScript({ content })
    await go('/')
    await page.getByRole('combobox', { name: 'An id, number' }).fill('mill lane', { timeout: 5_000 })
    await script.dispose()
  })

  it('says field by field what an event changed in a contact, and reveals nothing that is hidden (PROTOCOL §12.7)', async () => {
    const { page, go } = operator
    await go(`/tenants/${agency.tenantId}/contacts/${contactRef}`)
    const changes = page.locator('.changes')
    await changes.waitFor()
    assert.equal((await changes.innerText()).trim(), 'branch id: HQ North')
    assert.ok(!/Quillon|Thackerby/.test(await page.locator('main').innerText()))
  })

  const looks = everyLook.filter((look, n) => isLongRun || n === 1 || look === everyLook.at(-2))
  for (const look of looks) {
    it(`fits ${look.width} pixels, ${look.scheme}, without findings of axe (D31)`, async () => {
      const { page } = operator
      await page.setViewportSize({ width: look.width, height: 900 })
      await page.emulateMedia({ colorScheme: look.scheme })
      await operator.go('/')
      await page.getByText('72 refusals').waitFor()
      const name = `overview-${look.width}-${look.scheme}`
      await fitsItsWidth(page, name)
      await hasNoFindings(page, name)
      await picture(page, name)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'An id, number' }).fill('nr11 6ab')
      await page.getByText('All 4 agencies were searched.').waitFor()
      await fitsItsWidth(page, `find, ${name}`)
      await hasNoFindings(page, `find, ${name}`)
      await picture(page, `find-${look.width}-${look.scheme}`)
      await operator.go(`/tenants/${agency.tenantId}/contacts/${contactRef}`)
      await page.locator('.changes').waitFor()
      await fitsItsWidth(page, `contact, ${name}`)
      await hasNoFindings(page, `contact, ${name}`)
      await picture(page, `contact-${look.width}-${look.scheme}`)
    })
  }

  it('logged no complaint, and sent no request to another host (D31)', () => {
    assert.deepEqual(operator.complaints, [])
    assert.deepEqual(operator.strangers, [])
  })
})
