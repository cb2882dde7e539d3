/** Endpoints of webhooks in a real browser, at a real service with a receiver on this machine. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { MadeWebhook, Webhook } from '@property-events/protocol/wire'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { property } from '../../../server/test/support/property.ts'
import { until } from '../../../server/test/support/until.ts'
import {
  ask,
  makeWebhook,
  startReceiver,
  toThisMachine,
  webhookKey,
} from '../../../server/test/support/webhooks.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { everyLook, fitsItsWidth, hasNoFindings, picture } from '../support/visit.ts'

const label = 'Siop y Gornel £ – 🏠'
const waits = randomUUID()
const givenUp = randomUUID()

describe('webhooks in the console', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  /** Of the agency: it reads both feeds and has them posted. */
  let key: string
  let made: MadeWebhook
  const of = (path = ''): string => `/tenants/${service.tenant.tenantId}/webhooks${path}`

  before(async () => {
    service = await startConsoleService()
    key = await webhookKey(service)
    for (const agentRef of [waits, givenUp, randomUUID()])
      await publish(service, { payload: property({ agent_ref: agentRef }) })
    made = await makeWebhook(service, key, { label, after: 0 })
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  async function read(id: string): Promise<Webhook> {
    const answer = await ask(service, key, 'GET', `/${id}`)
    assert.equal(answer.status, 200, answer.text)
    const webhook: Webhook = JSON.parse(answer.text)
    return webhook
  }

  /** As a node that sends writes it: one event acknowledged, one waiting, one given up. */
  async function writeProgress(): Promise<void> {
    const { webhooks } = service.storage
    const leases = await webhooks.claim('a', 50, 40_000)
    const lease = leases.find(({ endpoint }) => endpoint.endpointId === made.id)
    assert.ok(lease !== undefined)
    const nowMs = Date.now()
    const tried = {
      endpointId: made.id,
      messageId: 'msg_e_1',
      tookMs: 45,
      status: 503,
      answer: 'Ar gau – closed',
    }
    const event = (subjectId: string, sequenceNumber: number) => ({ subjectId, sequenceNumber })
    const lost = await webhooks.save([
      {
        endpointId: made.id,
        leaseNo: lease.leaseNo,
        writes: lease.writes,
        epoch: made.cursor.epoch,
        change: {
          settled: 3,
          failingSinceMs: undefined,
          settledTries: 0,
          rows: {
            waiting: [{ ...event(waits, 1), tries: 2, nextTryMs: nowMs + 1_500_000 }],
            removed: [],
            givenUp: [event(givenUp, 2)],
            version: 1,
          },
        },
        acknowledged: { sequenceNumber: 3, atMs: nowMs },
        deliveries: [
          { ...tried, event: event(waits, 1), atMs: nowMs - 9_000, outcome: 'refused' },
          { ...tried, event: event(givenUp, 2), atMs: nowMs - 6_000, outcome: 'givenUp' },
          {
            ...tried,
            event: event(randomUUID(), 3),
            atMs: nowMs,
            outcome: 'acknowledged',
            status: 204,
            answer: undefined,
          },
        ],
        versions: [],
        disable: undefined,
        notice: undefined,
      },
    ])
    assert.deepEqual(lost, [])
    await webhooks.release('a')
  }

  it('shows of an endpoint what was tried, what waits with the last answer and the next try, and what was given up (D31)', async () => {
    await writeProgress()
    const { page, go, close } = await signedIn(browser, service, key)
    await go(of())
    const row = page.getByRole('row', { name: label })
    await row.waitFor()
    assert.match(
      await row.innerText(),
      /8\.8\.8\.8\/bachau\?siop=Caerdydd\s+property\s+enabled\s+3, (?:now|\d+ s ago)\s+1\s+1/,
    )
    await picture(page, 'webhooks')
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: label }).waitFor()
    const table = page.getByRole('table', { name: 'Waiting and given up' })
    const waiting = table.getByRole('row', { name: waits })
    await waiting.waitFor()
    assert.match(await waiting.innerText(), /1\s+2\s+in 2\d min\s+503: Ar gau – closed/)
    assert.match(await table.getByRole('row', { name: givenUp }).innerText(), /given up .* ago/)
    const deliveries = page.getByRole('table', { name: 'Last deliveries' }).locator('tbody tr')
    assert.equal(await deliveries.count(), 3)
    assert.match(await deliveries.first().innerText(), /acknowledged\s+204\s+45 ms/)
    await picture(page, 'webhook')
    await table.getByRole('button', { name: 'Resend 2' }).click()
    await until(async () => (await read(made.id)).givenUp === 0, { what: 'the event that waits again' })
    await close()
  })

  it('tests an endpoint and shows what came back, pauses it, and enables it again (D31)', async () => {
    await using receiver = await startReceiver(() => ({ status: 202, text: 'Diolch – <b>thanks</b>' }))
    const sending = await startConsoleService(toThisMachine)
    const owner = await webhookKey(sending)
    const { id, tenantId } = await makeWebhook(sending, owner, { label, url: receiver.url })
    const stateOf = async (): Promise<Webhook> =>
      JSON.parse((await ask(sending, owner, 'GET', `/${id}`)).text)
    const { page, go, close } = await signedIn(browser, sending, owner)
    const dialog = page.getByRole('dialog')
    await go(`/tenants/${tenantId}/webhooks/${id}`)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await dialog.getByRole('button', { name: 'Send a test' }).click()
    await dialog.getByText('202: Diolch – <b>thanks</b>').waitFor()
    await dialog.getByText('acknowledged', { exact: true }).waitFor()
    await picture(page, 'webhook-test')
    await hasNoFindings(page, 'what came back')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Pause' }).click()
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    assert.deepEqual((await stateOf()).reason, 'asked')
    await page.getByRole('button', { name: 'Enable' }).click()
    await dialog.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    assert.deepEqual((await stateOf()).state, 'enabled')
    await close()
    await sending.stop()
  })

  it('replays from a number and from a time, and gives a new secret once (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, key)
    const dialog = page.getByRole('dialog')
    const { id } = await makeWebhook(service, key, { label: 'Replay' })
    assert.equal((await read(id)).cursor.settled, 3)
    await go(of(`/${id}`))
    await page.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByText('Enter a number or a day.').waitFor()
    await dialog.getByLabel('From number').fill('3')
    await picture(page, 'webhook-replay')
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await read(id)).cursor.settled, 2)
    await page.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByLabel('Or from a time').fill('2001-01-31T00:00')
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await read(id)).cursor.settled, 0)
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await dialog.getByLabel('The present secret signs for').selectOption('an hour')
    await dialog.getByRole('button', { name: 'Rotate secret' }).click()
    assert.match(await dialog.locator('.secret').innerText(), /^whsec_/)
    await dialog.getByRole('button', { name: 'Copy the secret' }).waitFor()
    await page.keyboard.press('Escape')
    const { secrets } = await read(id)
    const ends = secrets.map(({ endsAt }) => endsAt)
    assert.deepEqual([ends.length, ends[0]], [2, null])
    assert.ok(Math.abs(Date.parse(ends[1] ?? '') - Date.now() - 3_600_000) < 600_000)
    await close()
  })

  it('makes an endpoint with the keyboard alone, shows a fault at its field and the secret once, and deletes it (D31)', async () => {
    const { page, go, close } = await signedIn(browser, service, key)
    const dialog = page.getByRole('dialog')
    await go(of())
    await page.getByRole('button', { name: 'Create an endpoint' }).press('Enter')
    await page.keyboard.type('siop y gornel')
    await page.keyboard.press('Enter')
    await dialog.locator('#webhook-url-fault').waitFor()
    await hasNoFindings(page, 'an address that is none')
    await dialog.getByLabel('Address').fill('https://10.0.0.1/bachau')
    await page.keyboard.press('Enter')
    await dialog.getByRole('link', { name: 'webhook_address_refused in the reference' }).waitFor()
    await picture(page, 'webhook-fault')
    await dialog.getByLabel('Address').fill('https://8.8.8.8/tŷ')
    await dialog.getByLabel('Label').fill('Newydd')
    await dialog.getByRole('combobox', { name: 'Sends' }).selectOption('Events of sales')
    await dialog.getByRole('combobox', { name: 'Payload' }).selectOption({ value: 'thin' })
    await dialog.getByRole('combobox', { name: 'Mode' }).selectOption({ value: 'latest' })
    await dialog.getByLabel('After number').fill('1')
    await page.keyboard.press('Enter')
    assert.match(await dialog.locator('.secret').innerText(), /^whsec_/)
    await picture(page, 'webhook-secret')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Newydd' }).click()
    await page.getByRole('heading', { name: 'Newydd' }).waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    const { apiEventType, payload, mode, cursor } = await read(id)
    assert.deepEqual([apiEventType, payload, mode, cursor.settled], ['salesproperty', 'thin', 'latest', 1])
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('This cannot be undone.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await read(id)).id, id)
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete endpoint' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    assert.equal((await ask(service, key, 'GET', `/${id}`)).status, 404)
    await close()
  })

  it('offers an operator only the pause, which its owner cannot lift, and a reader nothing (D31)', async () => {
    const operator = await signedIn(browser, service, service.operatorKey)
    await operator.go(of(`/${made.id}`))
    await operator.page.getByRole('button', { name: 'Pause' }).click()
    await operator.page.getByRole('button', { name: 'Release' }).waitFor()
    assert.equal((await read(made.id)).reason, 'operator')
    assert.deepEqual(await operator.page.locator('article header button').allInnerTexts(), ['Release'])
    await operator.page.getByText('a key with property:webhooks sees').waitFor()
    await operator.page.getByRole('button', { name: 'Release' }).click()
    await operator.page.getByRole('button', { name: 'Pause' }).waitFor()
    assert.equal((await read(made.id)).state, 'enabled')
    await operator.close()
    const { tenantId } = service.tenant
    const only = await service.issue({ grants: [{ tenantId, scopes: ['property:webhooks'] }] })
    const reader = await signedIn(browser, service, only.text)
    await reader.page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    assert.equal(await reader.page.getByRole('button', { name: 'Create an endpoint' }).count(), 0)
    await reader.close()
  })

  it('fits every width in both themes with all that an endpoint has, and axe finds nothing (D31)', async () => {
    await writeProgress()
    const usual = everyLook.filter(
      ({ width, scheme }) => (width === 360) === (scheme === 'dark') && width !== 768,
    )
    for (const look of isLongRun ? everyLook : usual) {
      const { page, go, close } = await signedIn(browser, service, key, look)
      const name = `webhook-${look.width}-${look.scheme}`
      await go(of(`/${made.id}`))
      await page.getByRole('table', { name: 'Last deliveries' }).waitFor()
      await picture(page, name)
      await fitsItsWidth(page, name)
      await hasNoFindings(page, name)
      await go(of())
      await page.getByRole('button', { name: 'Create an endpoint' }).click()
      await page.getByRole('dialog').getByLabel('Mode').waitFor()
      await picture(page, `${name}-create`)
      await fitsItsWidth(page, `${name}-create`)
      await close()
    }
  })
})
