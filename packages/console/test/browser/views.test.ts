/** The views of a property, a contact and keys in a real browser, at a real service. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { call, publish } from '../../../server/test/support/http-client.ts'
import { contact, property } from '../../../server/test/support/property.ts'
import { until } from '../../../server/test/support/until.ts'

import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { publishStory } from '../support/story.ts'
import { hasNoFindings, picture, tabTo } from '../support/visit.ts'

describe('the views of a property, a contact and keys', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  const agentRef = randomUUID()
  const contactRef = randomUUID()
  const of = (path: string): string => `/tenants/${service.tenant.tenantId}${path}`

  before(async () => {
    service = await startConsoleService()
    browser = await startBrowser()
    await publishStory(service, agentRef)
    await publish(
      service,
      { payload: contact({ contact_ref: contactRef, last_name: 'Quillon' }) },
      { feed: 'contact' },
    )
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Signing in takes a second or two, so that the operator does it once. */
  let operator: SignedIn | undefined
  /** Runs with a visitor who must have had nothing to complain of and asked no other host. */
  async function visiting(key: string, use: (visitor: SignedIn) => Promise<void>): Promise<void> {
    const isOperator = key === service.operatorKey
    const visitor = (isOperator ? operator : undefined) ?? (await signedIn(browser, service, key))
    if (isOperator) operator = visitor
    visitor.asked.length = 0
    await use(visitor)
    assert.deepEqual(visitor.complaints, [])
    assert.deepEqual(visitor.strangers, [])
    if (!isOperator) await visitor.close()
  }

  it('says at the top of a property what each consumer has, with two requests (D28, D31)', async () => {
    await visiting(service.operatorKey, async ({ page, go, asked }) => {
      await go(of(`/properties/${agentRef}`))
      await page.getByRole('heading', { name: '12 Mill Lane, Aylsham NR11 6AB' }).waitFor()
      await page.getByText('It has never requested this feed.').first().waitFor()
      const operations = asked.filter((address) => address.includes(`/properties/${agentRef}/`))
      assert.equal(operations.filter((address) => address.includes('/api/')).length, 2, operations.join('\n'))
      const text = await page.locator('main').innerText()
      for (const part of [
        '£289,950',
        'Available',
        'Sales',
        'Listed',
        'back on the market at £289,950',
        'taken off the market: Withdrawn from Market',
        'first listed at £310,000',
        'photograph 1 added',
        'photograph 2 moved from 3',
      ]) {
        assert.ok(text.includes(part), `${part} in ${text}`)
      }
    })
  })

  it('shows the bytes of a version at their own address (D31)', async () => {
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of(`/properties/${agentRef}?raw=2`))
      const raw = page.getByRole('region', { name: 'Payload of event 2' })
      await raw.getByText('"price": 295000').waitFor()
      await page.getByRole('link', { name: 'hide raw payload of 2' }).click()
      await raw.waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).search, '')
    })
  })

  it('says of three consumers which stopped, which lost its key and which reads lettings (D28, D31)', async () => {
    const { tenantId } = service.tenant
    const subject = randomUUID()
    const home = (price: number) => ({
      payload: property({ agent_ref: subject, price_information: { price } }),
      category: 'sales',
    })
    const keyOf = (label: string) =>
      service.issue({ label, grants: [{ tenantId, scopes: ['property:read'] }] })
    const [website, portal, old, lettings] = await Promise.all(
      ['shows-all', 'stopped', 'lost-its-key', 'lets-app'].map(keyOf),
    )
    const list = (key: string | undefined, query = '') =>
      call(service, `/api/func/api/v1/events/getevents${query}`, { key })
    await publish(service, home(300_000))
    for (const key of [website, portal, old]) assert.equal((await list(key?.text)).status, 200)
    assert.equal((await list(lettings?.text, '?apiEventType=lettingsproperty')).status, 200)
    const revoking = await call(service, `/v1/admin/keys/${old?.keyId}/revoke`, {
      method: 'POST',
      key: service.operatorKey,
    })
    assert.equal(revoking.status, 200)
    const isRefused = async () => (await call(service, '/v1/admin/self', { key: old?.text })).status === 401
    await until(isRefused, { what: 'the refusal of the key' })
    await publish(service, home(290_000))
    await list(website?.text)
    assert.equal((await list(old?.text)).status, 401)
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of(`/properties/${subject}`))
      const line = (who: string) => page.locator('.answer li', { hasText: who })
      await line('shows-all')
        .getByText(/^Sent by the list at \d\d:\d\d, within a minute/)
        .waitFor()
      await line('stopped')
        .getByText(/^Not sent: it has made no request since \d\d:\d\d/)
        .waitFor()
      await line('lost-its-key')
        .getByText(/^Its key was revoked at \d\d:\d\d/)
        .waitFor()
      await line('lets-app').getByText('It reads lettings only; this is sales.').waitFor()
      await picture(page, 'property-answer')
    })
  })

  it('shows the property to a key that reads its own feed, and no other consumer (P10)', async () => {
    const { text } = await service.issue({
      grants: [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] }],
    })
    await visiting(text, async ({ page, go }) => {
      await go(of(`/properties/${agentRef}`))
      await page.getByRole('heading', { name: '12 Mill Lane, Aylsham NR11 6AB' }).waitFor()
      await page.locator('.answer li').first().waitFor()
      assert.equal(await page.locator('.answer li').count(), 1)
      await go(of(`/keys`))
      await page.getByText('may not see this').waitFor()
    })
  })

  it('says what to do if a property does not exist (D31)', async () => {
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of(`/properties/${randomUUID()}`))
      await page.getByRole('alert').getByText('Check the reference').waitFor()
    })
  })

  it('hides the personal data of a contact, shows it for a stated reason, and records that (PROTOCOL §12.7)', async () => {
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of(`/contacts/${contactRef}`))
      await page.getByText('hidden', { exact: true }).first().waitFor({ state: 'attached' })
      assert.ok(!(await page.locator('main').innerText()).includes('Quillon'))
      await page.getByRole('button', { name: 'Show in full …' }).click()
      const show = page.getByRole('button', { name: 'Show', exact: true })
      assert.ok(await show.isDisabled(), 'without a reason nothing is shown')
      await page.getByLabel('Reason').selectOption('support')
      await show.click()
      await page.getByText('Quillon').waitFor()
      await page.getByText(/Hidden again in \d+ s/).waitFor()
      await page.getByRole('button', { name: 'Hide now' }).click()
      await page.getByText('Quillon').waitFor({ state: 'detached' })
    })
    const audit = await call(service, '/v1/admin/audit?action=contact.revealed', { key: service.operatorKey })
    const { items }: { readonly items: readonly { readonly target: string; readonly detail: unknown }[] } =
      JSON.parse(audit.text)
    assert.deepEqual(
      items.map(({ target, detail }) => ({ target, detail })),
      [{ target: contactRef, detail: { reason: 'support' } }],
    )
  })

  it('hides a contact again after a minute (PROTOCOL §12.7)', async () => {
    const { page, close } = await signedIn(browser, service, service.operatorKey)
    await page.clock.install()
    await page.goto(`${service.url}/console${of(`/contacts/${contactRef}`)}`)
    await page.getByRole('button', { name: 'Show in full …' }).click()
    await page.getByLabel('Reason').selectOption('correction')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Quillon').waitFor()
    await page.clock.fastForward(61_000)
    await page.getByText('Quillon').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Show in full …' }).waitFor()
    await close()
  })

  it('issues a key, shows it once with a request that works, rotates and revokes it, by keyboard alone (D11, D31)', async () => {
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of('/keys'))
      await page.getByRole('button', { name: 'Issue a key' }).waitFor()
      await tabTo(page, 'Issue a key')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await tabTo(page, 'Label: what uses the key')
      await page.keyboard.type('Website of Mill Lane')
      await page.keyboard.press('Enter')
      const secret = page.locator('.issued .secret')
      await secret.waitFor()
      const key = await secret.innerText()
      assert.match(key, /^pev_\w+$/)
      const request = await page.locator('.issued pre').innerText()
      assert.ok(request.includes(key))
      const path = /'http:\/\/[^/]+(\/[^']*)'/.exec(request)?.[1] ?? ''
      assert.equal((await call(service, path, { key })).status, 200)
      await picture(page, 'key-issued')
      await page.keyboard.press('Escape')
      await page.getByRole('rowheader', { name: 'Website of Mill Lane' }).waitFor()
      assert.ok(!(await page.content()).includes(key), 'it is shown once')

      await tabTo(page, 'Rotate Website of Mill Lane')
      await page.keyboard.press('Enter')
      await page.getByLabel('The old key keeps working for').waitFor()
      await tabTo(page, 'Rotate key')
      await page.keyboard.press('Enter')
      await page.getByText(/The previous key ends in 23 h 59 min|ends in 1 d/).waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('└ Website of Mill Lane (previous key)').waitFor()
      await page.getByText(/^ends in (?:23 h|1 d)/).waitFor()
      await picture(page, 'keys-rotated')

      await tabTo(page, 'End the previous key of Website of Mill Lane now')
      await page.keyboard.press('Enter')
      await tabTo(page, 'Revoke key')
      await page.keyboard.press('Enter')
      await page.getByText('└ Website of Mill Lane (previous key)').waitFor({ state: 'detached' })
      await until(async () => (await call(service, path, { key })).status === 401, { what: 'the refusal' })
    })
  })

  it('tries a draft while it is typed, says at each line what is wrong and what changes, and asks before it publishes (D31)', async () => {
    await visiting(service.tenant.publishKey, async ({ page, go }) => {
      const subject = randomUUID()
      await publish(service, {
        payload: property({ agent_ref: subject, price_information: { price: 289_950 } }),
      })
      await go(of('/playground'))
      const typed = (price: string) =>
        JSON.stringify(
          property({ agent_ref: subject, price_information: { price: 1 } }),
          undefined,
          2,
        ).replace(/"price": 1\b/, `"price": ${price}`)
      const draft = page.getByLabel('A payload, an event, an array of them, or one on each line')
      await draft.fill(typed('"285k"'))
      const line = typed('1').slice(0, typed('1').indexOf('"price": 1')).split('\n').length
      await page.getByRole('button', { name: `line ${line}` }).waitFor()
      assert.ok(await page.getByRole('button', { name: 'Publish …' }).isDisabled())
      await picture(page, 'playground-fault')
      await draft.fill(typed('285000.00'))
      await page.getByText('Would store 1 event: Updated.').waitFor()
      await page.getByText('289,950').waitFor()
      await picture(page, 'playground')
      await hasNoFindings(page, 'playground')
      await page.getByRole('button', { name: 'Publish …' }).click()
      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      await page.getByText(/^Stored 1 event: Updated, as #\d+\.$/).waitFor()
      const latest = await call(service, `/v1/properties/${subject}`, { key: service.tenant.readKey })
      assert.match(latest.text, /285000\.00/)
    })
  })

  it('erases a contact after counting its events and asking for its reference again, and gives a receipt (D17)', async () => {
    const person = randomUUID()
    await publish(service, { payload: contact({ contact_ref: person }) }, { feed: 'contact' })
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of('/erasures'))
      await page.getByRole('button', { name: 'Erase …' }).click()
      await page.getByLabel('Reference', { exact: true }).fill(person)
      await page.getByLabel('Reason').selectOption('data_subject_request')
      await page.getByRole('button', { name: 'Preview erasure' }).click()
      await page.getByText('1 event', { exact: true }).waitFor()
      const last = page.getByRole('button', { name: 'Erase permanently' })
      await page.getByLabel('Type the reference again').fill(randomUUID())
      assert.ok(await last.isDisabled())
      await page.getByLabel('Type the reference again').fill(person)
      await picture(page, 'erasing')
      await last.click()
      await page.getByText(/The page Erasures shows the progress/).waitFor()
      await page.keyboard.press('Escape')
      const row = page.getByRole('row', { name: person })
      await row.waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        row.getByRole('button', { name: /^Download the receipt/ }).click(),
      ])
      const receipt = JSON.parse(await readFile(await download.path(), 'utf8'))
      assert.deepEqual([receipt.subjectId, receipt.reason], [person, 'data_subject_request'])
      await hasNoFindings(page, 'erasures')
      await picture(page, 'erasures')
    })
  })

  it('shows as plain text: markup, links that a browser would run, characters that change the writing direction, and a line as long as a payload may be (D31)', async () => {
    const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>\u202Ejavascript:alert(3)`
    const long = 'x'.repeat(200_000)
    const subject = randomUUID()
    const texts = (text: string) => ({
      agent_ref: subject,
      statusstring: text,
      branch_id: text.slice(0, 90),
      address: { display_address: text, town: text, postcode_1: text, house_name_number: text },
      details: {
        summary: text,
        description: `${text} ${long}`,
        features: [text],
        rooms: [{ room_name: text }],
      },
      media: [
        { media_type: 1, media_url: `https://images.example.com/${encodeURIComponent(text)}`, caption: text },
      ],
      directions: text,
      [hostile]: { [text]: text },
    })
    await publish(service, { payload: { ...property(), ...texts('plain'), status: 1 } })
    await publish(service, { payload: { ...property(), ...texts(hostile), status: 44 } })
    await publish(service, { remove: { agentRef: subject, reason: hostile.slice(0, 60) } })
    await publish(service, { payload: { ...property(), ...texts(`${hostile} again`), status: 2 } })
    const person = randomUUID()
    await publish(
      service,
      { payload: contact({ contact_ref: person, last_name: hostile, notes: hostile }) },
      { feed: 'contact' },
    )
    const { text: key } = await service.issue({
      grants: [
        { tenantId: service.tenant.tenantId, scopes: ['property:read', 'property:publish', 'contact:read'] },
      ],
    })
    const { keyId } = await service.issue({
      grants: [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] }],
    })
    const result = {
      agentRef: subject,
      sequenceNumber: 1,
      outcome: 'live',
      message: '<b>x</b>',
      url: 'https://www.example.com/<img src=x onerror=alert(4)>',
    }
    await call(service, '/v1/property-consumers/shop/results', {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([result]),
    })
    await call(service, `/v1/admin/keys/${keyId}`, {
      method: 'PATCH',
      key: service.operatorKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ label: '<img src=x onerror=alert(5)>' }),
    })
    await visiting(service.operatorKey, async ({ page, go }) => {
      await go(of(`/properties/${subject}`))
      await page.locator('.timeline > li').nth(3).waitFor()
      assert.ok((await page.locator('h1').innerText()).includes('<img src=x onerror=alert(1)>'))
      await page.locator('.timeline .raw-link').first().click()
      await page.getByRole('button', { name: /^Show all/ }).click()
      const shown = await page.locator('main').innerText()
      assert.ok(!/[\u202E]/.test(shown), 'no letter turns the writing round')
      await picture(page, 'hostile-property')
      await go(of(`/contacts/${person}`))
      await page.locator('.fields').waitFor()
      await go(of('/keys'))
      await page.getByText('<img src=x onerror=alert(5)>').first().waitFor()
      assert.equal(await page.locator('main img, main script, main iframe').count(), 0)
      for (const link of await page.locator('a').all()) {
        assert.match((await link.getAttribute('href')) ?? '', /^(?:https?:|\/|#)/)
      }
    })
    await visiting(key, async ({ page, go }) => {
      await go(of(`/contacts/${person}`))
      await page.getByText('<script>alert(2)</script>').first().waitFor()
      assert.equal(await page.locator('main img, main script').count(), 0)
    })
  })
})
