/** The forms of the console in a real browser, at a real service: filters and keys. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { call, publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService, SignedIn } from '../support/signed-in.ts'
import { everyLook, fitsItsWidth, hasNoFindings, picture } from '../support/visit.ts'

const minuteMs = 60_000

describe('the forms of the console', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  let operator: SignedIn
  const of = (path: string): string => `/tenants/${service.tenant.tenantId}${path}`

  before(async () => {
    service = await startConsoleService()
    browser = await startBrowser()
    operator = await signedIn(browser, service, service.operatorKey)
    await publish(service, { payload: property({ agent_ref: randomUUID() }) })
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Nothing is complained of, and no other host is asked. */
  function isClean({ complaints, strangers }: SignedIn): void {
    assert.deepEqual([...complaints, ...strangers], [])
  }

  async function visiting(key: string, use: (visitor: SignedIn) => Promise<void>): Promise<void> {
    const visitor = await signedIn(browser, service, key)
    await use(visitor)
    isClean(visitor)
    await visitor.close()
  }

  async function read(path: string): Promise<Record<string, unknown>> {
    const answer = await call(service, path, { key: service.operatorKey })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text)
  }

  it('lists the publications of one key in a span of time, at an address that a colleague can open (PROTOCOL §14.2)', async () => {
    const { tenantId } = service.tenant
    const publisher = (label: string) =>
      service.issue({ label, grants: [{ tenantId, scopes: ['property:publish'] }] })
    const [nightly, office] = await Promise.all([publisher('nightly'), publisher('office')])
    const minute = Math.floor(Date.now() / minuteMs)
    const counts = {
      requests: 1,
      stored: 3,
      repeated: 0,
      unchanged: 0,
      warnings: {},
      warningPlaces: {},
      refused: 0,
    }
    const key = { tenantId, feed: 'property' } as const
    await service.storage.publications.add(
      [
        { ...counts, key, keyId: nightly.keyId, minute: minute - 10, numbers: [1, 3] },
        {
          ...counts,
          key,
          keyId: office.keyId,
          minute: minute - 300,
          numbers: undefined,
          stored: 0,
          refused: 1,
        },
      ],
      [],
    )
    const { page, go } = operator
    await go(of('/publications'))
    const rows = page.locator('.table tbody tr')
    await rows.nth(1).waitFor()
    await page.getByRole('combobox', { name: 'Key' }).selectOption('nightly')
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get('key') === nightly.keyId)
    await rows.nth(1).waitFor({ state: 'detached' })
    assert.match(await rows.innerText(), /3 stored/)
    // Five hours ago, office alone published.
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.waitForURL((url) => url.search === '')
    await page.getByLabel('To', { exact: true }).fill(localMinute((minute - 200) * minuteMs))
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('to') === utcMinute((minute - 200) * minuteMs))
    await rows.nth(1).waitFor({ state: 'detached' })
    assert.match(await rows.innerText(), /office/)
    await page.reload()
    await rows.first().waitFor()
    assert.equal(
      await page.getByLabel('To', { exact: true }).inputValue(),
      localMinute((minute - 200) * minuteMs),
    )
    await page.getByLabel('From', { exact: true }).fill(localMinute((minute - 250) * minuteMs))
    await page.keyboard.press('Enter')
    await page.getByText('No publications match.').waitFor()
    isClean(operator)
    await visiting(office.text, async ({ page, go }) => {
      await go(of(`/publications?from=${utcMinute((minute - 301) * minuteMs)}`))
      await page.getByText('1 request').waitFor()
      assert.equal(await page.getByRole('combobox', { name: 'Key' }).count(), 0)
      await page.getByLabel('From', { exact: true }).fill(localMinute((minute - 5) * minuteMs))
      await page.keyboard.press('Enter')
      await page.getByText('No publications match.').waitFor()
    })
  })

  it('issues a key with every limit that a key can have, and shows a fault at its field (PROTOCOL §12.4)', async () => {
    const { page, go } = operator
    await go(of('/keys'))
    await page.getByRole('button', { name: 'Issue a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label: what uses the key').fill('Solicitors')
    await dialog.getByLabel('read property events').uncheck()
    await dialog.getByLabel('read contact events').check()
    await dialog.getByText('Limit to some contacts or fields').click()
    await dialog.getByLabel('vendor').check()
    await dialog.getByLabel('last_name').check()
    await dialog.getByLabel('Expires (optional)').fill('2090-01-31T09:30')
    await dialog.getByText('More limits').click()
    await dialog.getByLabel('Other agencies').fill(service.otherTenant.tenantId)
    const networks = dialog.getByLabel('Allowed IP addresses')
    await networks.fill('192.0.2.0/99')
    await dialog.getByLabel('Requests per second').fill('5')
    await dialog.getByLabel('Requests at once').fill('20')
    await dialog.getByRole('button', { name: 'Issue the key' }).click()
    const fault = dialog.locator('#key-networks-fault')
    await fault.getByText('networks must be a list of at most 100 addresses').waitFor()
    assert.equal(await networks.getAttribute('aria-invalid'), 'true')
    await hasNoFindings(page, 'issuing a key')
    await picture(page, 'key-fault')
    await networks.fill('192.0.2.0/24')
    await dialog.getByRole('button', { name: 'Issue the key' }).click()
    const text = await dialog.locator('.issued .secret').innerText()
    const [, keyId = ''] = /^pev_([^_]+)_/.exec(text) ?? []
    const { label, grants, networks: from, rate, expiresAt } = await read(`/v1/admin/keys/${keyId}`)
    const grant = { scopes: ['contact:read'], contact: { roles: ['vendor'], fields: ['last_name'] } }
    assert.deepEqual(
      { label, grants, from, rate, expiresAt },
      {
        label: 'Solicitors',
        grants: [service.tenant, service.otherTenant].map(({ tenantId }) => ({ tenantId, ...grant })),
        from: ['192.0.2.0/24'],
        rate: { perSecond: 5, burst: 20 },
        expiresAt: new Date(2090, 0, 31, 9, 30).toISOString(),
      },
    )
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Change Solicitors' }).click()
    assert.equal(await dialog.getByLabel('Expires (optional)').inputValue(), '2090-01-31T09:30')
    await dialog.getByLabel('Label: what uses the key').fill('Solicitors of Mill Lane')
    await dialog.getByLabel('Expires (optional)').fill('2001-01-31T09:30')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.getByText('Choose a time in the future, or leave it empty.').waitFor()
    await dialog.getByLabel('Expires (optional)').fill('')
    await networks.fill('')
    await hasNoFindings(page, 'changing a key')
    await picture(page, 'key-change')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('rowheader', { name: 'Solicitors of Mill Lane' }).waitFor()
    const changed = await read(`/v1/admin/keys/${keyId}`)
    assert.deepEqual(
      [changed['label'], changed['expiresAt'], changed['networks'], changed['rate']],
      ['Solicitors of Mill Lane', null, [], { perSecond: 5, burst: 20 }],
    )
    isClean(operator)
  })

  it('offers only what the issuer of the key holds (PROTOCOL §12.4)', async () => {
    const { tenantId } = service.tenant
    const { text } = await service.issue({
      label: 'manager',
      grants: [{ tenantId, scopes: ['tenant:inspect', 'tenant:manage'] }],
    })
    await service.issue({ label: 'eraser', grants: [{ tenantId, scopes: ['contact:erase'] }] })
    await visiting(text, async ({ page, go }) => {
      await go(of('/keys'))
      await page.getByRole('button', { name: 'Change eraser' }).waitFor()
      await page.getByRole('button', { name: 'Issue a key' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Label: what uses the key').waitFor()
      assert.equal(await dialog.getByText('admin:').count(), 0)
      assert.equal(await dialog.getByLabel('Other agencies').count(), 0)
      await dialog.getByText('More limits').click()
      await dialog.getByLabel('Branches').fill('Norwich')
      await dialog.getByLabel('read contact events').check()
      await dialog.getByLabel('Label: what uses the key').fill('x')
      await dialog.getByRole('button', { name: 'Issue the key' }).click()
      await dialog.locator('#key-branches-fault').getByText('Create another key for contact:read').waitFor()
    })
  })

  it('fits every width in both themes, and axe finds nothing (D31)', async () => {
    const usual = everyLook.filter(
      ({ width, scheme }) => (width === 360) === (scheme === 'dark') && width !== 768,
    )
    for (const look of isLongRun ? everyLook : usual) {
      const visitor = await signedIn(browser, service, service.operatorKey, look)
      const { page, go } = visitor
      const check = async (name: string): Promise<void> => {
        const what = `${name}-${look.width}-${look.scheme}`
        await picture(page, what)
        await fitsItsWidth(page, what)
        if (isLongRun || look.width === 1_440) await hasNoFindings(page, what)
      }
      await go(of('/keys'))
      await page.getByRole('button', { name: 'Issue a key' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('read contact events').check()
      for (const summary of await dialog.locator('summary').all()) await summary.click()
      await check('issue')
      isClean(visitor)
      await visitor.close()
    }
  })
})

/** As a field for a day and time has it, by the clock of this machine, which is the browser's. */
function localMinute(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * minuteMs).toISOString().slice(0, 16)
}

function utcMinute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`
}
