/** Texts of every kind wherever the console shows one of somebody else's, in a real browser. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { call, publish } from '../../../server/test/support/http-client.ts'
import { contact, property } from '../../../server/test/support/property.ts'
import { isShown } from '../support/every-view.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { fitsItsWidth, picture } from '../support/visit.ts'

/** Welsh, a price, a dash, emoji of several code points, and words from right to left, with a number that these could draw to them. */
const words = (name: string): string => `${name} Tŷ £450 – 👩🏽‍🌾🏴󠁧󠁢󠁷󠁬󠁳󠁿 בית عربي 12`

describe('texts of every kind', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  let visitor: SignedIn
  const agency = { tenantId: randomUUID(), name: words('agency'), reference: words('ref') }
  const [agentRef, contactRef] = [randomUUID(), randomUUID()]

  before(async () => {
    service = await startConsoleService()
    const { tenantId } = agency
    await service.storage.tenants.createTenant(
      { ...agency, createdMs: Date.now(), suspended: false },
      'service',
    )
    const publisher = await service.issue({
      label: words('publisher'),
      grants: [{ tenantId, scopes: ['property:publish', 'contact:publish'] }],
    })
    const website = await service.issue({
      label: words('website'),
      grants: [{ tenantId, scopes: ['property:read'], branches: [words('branch')] }],
    })
    const home = (caption: string) =>
      property({
        agent_ref: agentRef,
        branch_id: words('branch'),
        reference: words('home'),
        statusstring: words(caption),
        address: { display_address: words('address'), postcode_1: 'SY23' },
        price_information: { price: 450_000, price_qualifier_string: words('qualifier') },
        details: { summary: words(caption), features: [words(caption)] },
        media: [{ media_type: 1, media_url: 'https://images.example.com/a.jpg', caption: words(caption) }],
      })
    for (const caption of ['before', 'after'])
      await publish(service, { payload: home(caption) }, { key: publisher.text })
    const person = contact({ contact_ref: contactRef, notes: words('notes') })
    await publish(service, { payload: person }, { key: publisher.text, feed: 'contact' })
    const list = '/v1/property-events?after=0'
    assert.equal((await call(service, list, { key: website.text })).status, 200)
    const results = [
      { agentRef, sequenceNumber: 2, outcome: 'refused', code: 'caption', message: words('why') },
    ]
    const told = await call(service, '/v1/property-consumers/default/results', {
      method: 'POST',
      key: website.text,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(results),
    })
    assert.equal(told.status, 200, told.text)
    const operator = await service.issue({
      label: words('operator'),
      operator: true,
      adminScopes: [...adminScopes],
    })
    browser = await startBrowser()
    visitor = await signedIn(browser, service, operator.text)
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** The texts of the page that have words from right to left: what is read and what is only in attributes. */
  async function turned(page: Page): Promise<readonly string[]> {
    return page.evaluate<string[]>(`(() => {
      const main = [...document.querySelectorAll('header.head, main')].flatMap((part) => [part, ...part.querySelectorAll('*')])
      const own = main.flatMap((part) => [...part.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data))
      const named = main.flatMap((part) => ['title', 'aria-label', 'alt'].map((name) => part.getAttribute(name) ?? ''))
      return [...own, ...named].filter((text) => /[א-ת]/.test(text))
    })()`)
  }

  it('are shown whole, and turn nothing around them, on each page that has some (D31)', async () => {
    const { page, go, close } = visitor
    const of = (path: string): string => `/tenants/${agency.tenantId}${path}`
    // What each page has to show, so that none passes for having nothing.
    for (const [name, path, shown] of [
      ['overview', '/', ['agency', 'operator']],
      ['feed', of('/feeds/property'), ['agency', 'address']],
      ['property', of(`/properties/${agentRef}`), ['address', 'before', 'after', 'website', 'why']],
      ['keys', of('/keys'), ['publisher', 'website', 'branch']],
      ['consumers', of('/consumers'), ['website']],
      ['publications', of('/publications'), ['publisher']],
    ] as const) {
      await go(path)
      await isShown(page)
      for (const one of shown)
        await page
          .getByText(new RegExp(`${one} Tŷ`))
          .first()
          .waitFor({ state: 'attached' })
      await picture(page, `texts-${name}`)
      await fitsItsWidth(page, name)
      const texts = await turned(page)
      assert.ok(texts.length > 0, name)
      for (const text of texts) {
        assert.ok(text.isWellFormed(), `${name}: ${text}`)
        const outside = text
          .replaceAll(/\u2068[^\u2068\u2069]*\u2069/g, '')
          .replaceAll(/\u2068[^\u2068\u2069]*\u2069/g, '')
        assert.doesNotMatch(outside, /[א-ת]/, `${name}: ${JSON.stringify(text)}`)
        if (text.includes('👩')) assert.ok(text.includes('👩🏽‍🌾'), `${name}: ${text}`)
      }
    }
    await close()
  })
})
