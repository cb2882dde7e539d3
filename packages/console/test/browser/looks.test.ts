/** How the console looks and is used, at the sizes of a phone, a tablet and desks, in a real browser at a real service. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { grantScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { contact, property } from '../../../server/test/support/property.ts'
import { until } from '../../../server/test/support/until.ts'
import { isShown } from '../support/every-view.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { fitsItsWidth, picture } from '../support/visit.ts'

const agentRef = randomUUID()
const contactRef = randomUUID()
const description = (words: string) =>
  `<p>Tŷ gwyn in a quiet lane.</p><br /><br />Light rooms &amp; a garden.<br />${'A hall with a window. '.repeat(20)}${words}`

describe('the looks of the console', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  let tenantId: string

  before(async () => {
    service = await startConsoleService()
    tenantId = service.tenant.tenantId
    const home = (price: number, words: string) =>
      property({
        agent_ref: agentRef,
        status: 1,
        price_information: { price, price_qualifier: 4 },
        details: { description: description(words) },
      })
    await publish(service, { payload: home(1_295_000, 'Viewing by appointment.') })
    await publish(service, {
      payload: home(
        1_250_000,
        'Viewing by appointment with the office in Norwich – £ on request, at any time of the week, also in the evening, with a friendly dog and a short walk to the river.',
      ),
    })
    for (let n = 0; n < 30; n += 1) await publish(service, { payload: property({ agent_ref: randomUUID() }) })
    await publish(service, { payload: home(1_250_000, 'Reduced 🏡.') })
    await publish(service, { payload: contact({ contact_ref: contactRef }) }, { feed: 'contact' })
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  const tenantKey = async (...scopes: readonly string[]): Promise<string> => {
    const known = grantScopes.filter((scope) => scopes.includes(scope))
    return (await service.issue({ grants: [{ tenantId, scopes: known }] })).text
  }
  const isWhole = (page: Page, selector: string): Promise<boolean> =>
    page.evaluate<boolean>(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].every((one) => one.scrollWidth <= one.clientWidth + 1)`,
    )

  it('begins the list of events within 200 pixels of the top of a phone, and shows prices whole (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey, {
      width: 390,
      scheme: 'light',
    })
    await go(`/tenants/${tenantId}/feeds/property`)
    const row = page.locator('.list [data-row]:not(.coming)').first()
    await row.waitFor()
    await picture(page, 'looks-phone-feed')
    await page.locator('.list').getByText('Offers in excess of £1,250,000').first().waitFor()
    const top = (await page.locator('.list').boundingBox())?.y ?? Infinity
    assert.ok(top <= 200, `the list begins at ${top}`)
    assert.ok(await isWhole(page, '.list [data-row] > :nth-child(5)'), 'prices are whole')
    await fitsItsWidth(page, 'the feed')
    // What the bar holds is one press away.
    assert.equal(await page.getByLabel('Number', { exact: true }).isVisible(), false)
    await page.getByRole('button', { name: 'Filter, go to …' }).click()
    await page.getByLabel('Number', { exact: true }).fill('1')
    await page.keyboard.press('Enter')
    await page.getByText('Offers').first().waitFor()
    await close()
  })

  /** The bar above the list, also while it waits: nothing moves down when somebody opens an event. */
  async function isOneLine(page: Page): Promise<void> {
    await page.locator('.list [data-row]').first().click()
    await page.getByRole('button', { name: /^paused/ }).waitFor()
    const tops = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.feed-bar :is(select, button:not(.more))')].map((one) => Math.round(one.getBoundingClientRect().top))`,
    )
    assert.equal(new Set(tops).size, 1, `one line: ${tops.join()}`)
  }

  it('shows prices whole on a desk, and cuts the address instead (D31)', async () => {
    for (const width of [768, 1_280]) {
      const { page, go, close } = await signedIn(browser, service, service.operatorKey, {
        width,
        scheme: 'dark',
      })
      await go(`/tenants/${tenantId}/feeds/property`)
      await page.locator('.list').getByText('Offers in excess of £1,250,000').first().waitFor()
      await picture(page, `looks-feed-${width}`)
      if (width === 1_280) await isOneLine(page)
      assert.ok(await isWhole(page, '.list [data-row] > :nth-child(5)'), `prices at ${width}`)
      await close()
    }
  })

  it('breaks no price in its tile, at any width (D31)', async () => {
    const plain = randomUUID()
    const payload = property({ agent_ref: plain, price_information: { price: 1_289_950 } })
    await publish(service, { payload })
    for (const width of [360, 640, 768, 1_024, 1_280]) {
      const { page, go, close } = await signedIn(browser, service, service.operatorKey, {
        width,
        scheme: 'light',
      })
      await go(`/tenants/${tenantId}/properties/${plain}`)
      await page.locator('.tiles-of-numbers').getByText('£1,289,950').waitFor()
      const lines = await page.evaluate<number>(`(() => {
        const text = document.createRange()
        text.selectNodeContents(document.querySelector('.tiles-of-numbers dd'))
        return new Set([...text.getClientRects()].map(({ top }) => Math.round(top / 8))).size
      })()`)
      assert.equal(lines, 1, `at ${width}`)
      const sizes = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.tiles-of-numbers dd')].map((one) => getComputedStyle(one).fontSize)`,
      )
      assert.equal(new Set(sizes).size, 1, `the tiles are of one size: ${sizes.join()}`)
      await close()
    }
  })

  it('folds what changed in a long text, and shows HTML as the text that readers see (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey, {
      width: 360,
      scheme: 'light',
    })
    await go(`/tenants/${tenantId}/properties/${agentRef}`)
    const change = page.locator('.timeline .text-change').first()
    await change.waitFor()
    assert.equal(await change.locator('q').isVisible(), false, 'a long text is folded')
    await change.locator('summary').click()
    await change.getByText('Reduced').waitFor()
    assert.doesNotMatch((await page.locator('.timeline').innerText()) ?? '', /<br|<p>|&amp;/)
    await fitsItsWidth(page, 'the property')
    await picture(page, 'looks-property-phone')
    await close()
  })

  it('draws prices and hours with axes, and says what is where somebody points (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    for (const [path, says] of [
      ['/', /^\d\d:00: \d+ events?$/],
      [`/tenants/${tenantId}/properties/${agentRef}`, /£1,2\d\d,000, since /],
    ] as const) {
      await go(path)
      const chart = page.locator('.chart svg')
      await chart.waitFor()
      assert.ok((await chart.locator('text').count()) >= 4, 'the axes have numbers and times')
      const box = await chart.boundingBox()
      assert.ok(box !== null)
      await page.mouse.move(box.x + box.width - 20, box.y + 60)
      await page.locator('.chart figcaption').getByText(says).waitFor()
      await picture(page, `looks-chart-${path.length}`)
    }
    await close()
  })

  it('asks before what cannot be undone, with a red button and a way back (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    await service.issue({ label: 'window display', grants: [{ tenantId, scopes: ['property:read'] }] })
    await go(`/tenants/${tenantId}/keys`)
    await page.getByRole('button', { name: 'Revoke window display' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Revoke key' }).waitFor()
    const colour = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('dialog .danger')).backgroundColor`,
    )
    assert.equal(colour, 'rgb(179, 38, 30)')
    await picture(page, 'looks-revoke')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke window display' }).waitFor()
    await close()
  })

  it('puts each label of a dialog above its box (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    await go(`/tenants/${tenantId}/erasures`)
    await page.getByRole('button', { name: 'Erase …' }).click()
    const glued = await page.evaluate<number>(`[...document.querySelectorAll('dialog label')]
      .filter((label) => label.querySelector('input, select') !== null)
      .filter((label) => {
        const text = document.createRange()
        text.selectNodeContents(label.firstChild)
        return text.getBoundingClientRect().bottom > label.querySelector('input, select').getBoundingClientRect().top + 1
      }).length`)
    assert.equal(glued, 0)
    await picture(page, 'looks-erase')
    await close()
  })

  it('chooses an agency with the arrow keys, as everywhere else (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    await go(`/tenants/${tenantId}/keys`)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.locator('.tenant').click()
    const dialog = page.getByRole('dialog', { name: 'Agencies' })
    await dialog.getByRole('option').nth(1).waitFor()
    const second = await dialog.getByRole('option').nth(1).getAttribute('href')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${second}`)
    assert.match(second ?? '', /\/keys$/, 'the same view of the other agency')
    await close()
  })

  it('takes what is typed into the search at once after it was closed, again and again (D31)', async () => {
    const { page, close } = await signedIn(browser, service, service.operatorKey)
    const field = page.getByRole('combobox', { name: 'An id, number' })
    for (let round = 0; round < 8; round += 1) {
      await page.keyboard.press('/')
      await page.keyboard.type('mill')
      await field.waitFor()
      assert.equal(await field.inputValue(), 'mill', `round ${round}`)
      await page.keyboard.press('Escape')
    }
    await close()
  })

  it('offers on the page of a contact, above its data, what can be done with it, or says who can (PROTOCOL §5.7, §12.7)', async () => {
    const reader = await tenantKey('contact:read', 'contact:erase')
    const path = `/tenants/${tenantId}/contacts/${contactRef}`
    {
      const { page, go, close } = await signedIn(browser, service, service.operatorKey)
      await go(path)
      const buttons = page.locator('.contact-actions button')
      await buttons.nth(3).waitFor()
      assert.deepEqual(
        (await buttons.allInnerTexts()).map((text) => text.trim()),
        ['Show in full …', 'Export …', 'Restrict …', 'Erase …'],
      )
      const above = await page.evaluate<boolean>(
        `document.querySelector('.contact-actions').getBoundingClientRect().bottom < document.querySelector('.fields').getBoundingClientRect().top`,
      )
      assert.ok(above)
      await picture(page, 'looks-contact')
      await page.getByRole('button', { name: 'Restrict …' }).click()
      await page.getByRole('dialog').getByText('contact:erase').first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Export …' }).click()
      await page.getByRole('dialog').getByText(`contacts export ${contactRef}`).waitFor()
      await close()
    }
    const { page, go, close } = await signedIn(browser, service, reader)
    await go(path)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ])
    assert.equal(download.suggestedFilename(), `contact-${contactRef}.json`)
    await page.getByRole('button', { name: 'Restrict …' }).click()
    await page.getByLabel('Reason').selectOption('objection')
    await page.getByRole('button', { name: 'Restrict', exact: true }).click()
    await page.getByText('The contact is restricted.').waitFor()
    await close()
  })

  it('says which scopes a view needs, and leads from there to those that the key may see (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, await tenantKey('property:publish'))
    await go(`/tenants/${tenantId}/keys`)
    await page
      .getByText('It needs a key with one of tenant:inspect, admin:inspect for this agency.')
      .waitFor()
    await page.locator('main').getByRole('link', { name: 'Playground' }).click()
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    await close()
  })

  it('leads whoever signs in next to a view of their own key, not to the one that was open before (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    await go(`/tenants/${tenantId}/keys`)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.locator('.who summary').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Key', { exact: true }).fill(await tenantKey('property:publish'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Publications' }).waitFor()
    await close()
  })

  it('tells an operator in the menu of the key why there is no contact feed and no playground (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    await go('/')
    await isShown(page)
    await page.locator('.who summary').click()
    await page
      .getByText('To read the contact feed or use the playground, sign in with a key of the agency.')
      .waitFor()
    await picture(page, 'looks-account')
    await until(async () => (await page.getByLabel('Theme').count()) === 1, { what: 'the choice of theme' })
    await page.getByLabel('Theme').focus()
    await page.keyboard.press('Escape')
    assert.equal(await page.getByLabel('Theme').isVisible(), false, 'Escape closes it')
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'SUMMARY')
    await close()
  })
})
