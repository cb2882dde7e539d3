/** What does not fit a duty by law, in a real browser at a real service: for an agency with references, for operators counted (PROTOCOL §4.13). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { hasNoFindings } from '../support/visit.ts'

describe('duties by law in the console', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  before(async () => {
    service = await startConsoleService({ clock: () => Date.now() + aheadMs })
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })
  /** The duties are in force, whenever the test runs. */
  const aheadMs = Math.max(0, Date.parse('2026-05-02T00:00:00Z') - Date.now())

  it('names the properties of a duty to their agency, counts them for an operator, and none of both once mended (D31)', async () => {
    const letting = property({
      price_information: { price: 1200, rent_frequency: 12 },
      details: { summary: 'Tŷ â gardd – £1,200 y mis 🏡. Sorry, no DSS.' },
    })
    await publish(service, { payload: letting })
    const agency = await signedIn(browser, service, service.tenant.publishKey)
    const operator = await signedIn(browser, service, service.operatorKey)
    const publications = `/tenants/${service.tenant.tenantId}/publications`
    await agency.go(publications)
    const row = agency.page.getByRole('row', { name: /^tenant_excluded 1/ })
    await row.getByText('1 reference').click()
    await row.getByText(letting.agent_ref).waitFor()
    await hasNoFindings(agency.page, 'publications with duties')
    await operator.go('/')
    await operator.page.getByText(/1 tenant_excluded, 1 material_information of 1 property/).waitFor()

    await publish(service, { payload: { ...letting, details: { summary: 'Tŷ â gardd. DSS considered.' } } })
    await agency.page.getByRole('button', { name: 'Count again' }).click()
    await agency.page.getByRole('row', { name: /^tenant_excluded 0/ }).waitFor()
    await operator.go('/')
    await operator.page.getByText(/(?<!excluded, )1 material_information of 1 property/).waitFor()
    assert.deepEqual([agency.complaints, operator.complaints], [[], []])
    await agency.close()
    await operator.close()
  })
})
