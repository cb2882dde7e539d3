/** Values and lines of a megabyte wherever the console shows or takes a text: it shows their beginnings, and all of one when it is asked. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { grantScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { contact, property } from '../../../server/test/support/property.ts'
import { isShown, partsOffThePage } from '../support/every-view.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { fitsItsWidth } from '../support/visit.ts'

const megabyte = 2 ** 20
/** Characters that a page holds of everything together: what a browser lays out at once, and a reader reads. */
const mostShown = 60_000

describe('a text of a megabyte', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  let visitor: SignedIn
  const [agentRef, contactRef] = [randomUUID(), randomUUID()]
  const of = (path: string): string => `/tenants/${service.tenant.tenantId}${path}`
  const line = 'm'.repeat(megabyte)
  const words = 'mill '.repeat(megabyte / 5)
  const filled = (text: string) =>
    property({
      agent_ref: agentRef,
      statusstring: text,
      address: { display_address: text, town: text, postcode_1: 'NR11', postcode_2: '6AB' },
      details: { summary: text, description: text, features: [text] },
      media: [{ media_type: 1, media_url: 'https://images.example.com/a.jpg', caption: text }],
    })

  before(async () => {
    // Services take 256 KiB of a payload. What the console shows was stored by one that takes more.
    const publication = { maxEvents: 1_000, maxPayloadBytes: 16 * megabyte, maxPayloadDepth: 32 }
    service = await startConsoleService({ limits: { publication } })
    await publish(service, { payload: property({ agent_ref: agentRef }) })
    await publish(service, {
      payload: property({ agent_ref: agentRef, details: { description: `${line} end` } }),
    })
    await publish(service, { payload: filled(words) })
    const person = contact({ contact_ref: contactRef, surname: line, notes: words })
    await publish(service, { payload: person }, { feed: 'contact' })
    const { tenantId } = service.tenant
    const { text: key } = await service.issue({ grants: [{ tenantId, scopes: [...grantScopes] }] })
    browser = await startBrowser()
    visitor = await signedIn(browser, service, key)
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** All of the page, what is folded away included, is short. */
  async function isShort(page: Page, what: string): Promise<void> {
    const length = await page.evaluate<number>('document.documentElement.outerHTML.length')
    assert.ok(length <= mostShown, `${what}: ${length} characters`)
    await fitsItsWidth(page, what)
    assert.deepEqual(await partsOffThePage(page), [], what)
  }

  it('is cut in the list of events, beside it, on the page of its property and of its contact (D31)', async () => {
    const { page, go } = visitor
    for (const [path, ready] of [
      ['/feeds/property', '[data-row]:not(.coming)'],
      ['/feeds/property?number=2', '.details .raw'],
      [`/properties/${agentRef}`, '.timeline > li >> nth=2'],
      [`/properties/${agentRef}?raw=2`, '.timeline .raw'],
      [`/contacts/${contactRef}`, '.fields'],
    ] as const) {
      await go(of(path))
      await page.locator(ready).first().waitFor()
      await isShown(page)
      await isShort(page, path)
    }
  })

  it('is shown whole on request, within its box (D31)', async () => {
    const { page, go } = visitor
    await go(of(`/properties/${agentRef}?raw=2`))
    await page.getByRole('button', { name: /^Show all/ }).click()
    const raw = page.getByRole('region', { name: 'Payload of event 2' })
    await raw.getByText('mmm end').waitFor()
    assert.ok((await raw.innerText()).length > megabyte)
    await fitsItsWidth(page, 'all of it')
    assert.deepEqual(await partsOffThePage(page), [], 'all of it')
    await page.getByRole('link', { name: 'hide raw payload of 2' }).click()
    await raw.waitFor({ state: 'detached' })
    await isShort(page, 'hidden again')
  })

  it('works in the playground, and does not disturb a search (D31)', async () => {
    const { page, go } = visitor
    await go(of('/playground'))
    const draft = page.getByLabel('A payload, an event, an array of them, or one on each line')
    await draft.fill(JSON.stringify(property({ agent_ref: agentRef, directions: line })))
    await page.getByText('Would store 1 event: Updated.').waitFor()
    await fitsItsWidth(page, 'the playground')
    await draft.blur()
    await page.keyboard.press('/')
    await page.getByRole('dialog').getByRole('combobox').fill(line)
    await page.getByRole('dialog').getByText(/./).first().waitFor()
    await fitsItsWidth(page, 'the search')
    await visitor.close()
  })
})
