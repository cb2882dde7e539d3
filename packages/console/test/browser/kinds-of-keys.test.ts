/** Each kind of key in a real browser at a real service: where it arrives, what it is offered, and where links lead. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { adminScopes, grantScopes } from '@property-events/protocol'
import type { GrantScope } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { contact } from '../../../server/test/support/property.ts'
import { until } from '../../../server/test/support/until.ts'
import type { IssueOptions } from '../../../server/test/support/test-service.ts'
import { isOpen, isShown } from '../support/every-view.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { publishStory } from '../support/story.ts'
import { picture } from '../support/visit.ts'

/** Those that arrive at different views; where each of the others arrives, open-paths.test.ts says. */
const inShortRun = ['property:publish', 'tenant:manage', 'admin:audit', 'publish in two agencies']
const agentRef = randomUUID()
const contactRef = randomUUID()

describe('the console for each kind of key', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser

  before(async () => {
    service = await startConsoleService()
    await publishStory(service, agentRef)
    await publish(service, { payload: contact({ contact_ref: contactRef }) }, { feed: 'contact' })
    await refuseEndedKey()
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  const ofTenant = (...scopes: readonly GrantScope[]): IssueOptions => ({
    grants: [{ tenantId: service.tenant.tenantId, scopes }],
  })
  const ofBoth = (...scopes: readonly GrantScope[]): IssueOptions => ({
    grants: [service.tenant, service.otherTenant].map(({ tenantId }) => ({ tenantId, scopes })),
  })
  /** Before anybody looks at the overview, as the service keeps for 30 s what it found. */
  async function refuseEndedKey(): Promise<void> {
    const old = await service.issue({
      ...ofTenant('property:read'),
      label: 'Hên wefan £',
      expiresMs: Date.now() - 86_400_000,
    })
    const { tenantId } = service.tenant
    const refusal = {
      keyId: old.keyId,
      name: 'default',
      tenantId,
      code: 'key_expired',
      status: 401,
      count: 72,
    }
    const nowMs = Date.now()
    await service.storage.consumers.addRefusals([
      { ...refusal, sinceMs: nowMs - 7_200_000, lastMs: nowMs - 60_000 },
    ])
  }

  /** Each scope alone, and the combinations that people have. */
  const kinds: readonly (readonly [name: string, options: () => IssueOptions])[] = [
    ...grantScopes.map((scope) => [scope, () => ofTenant(scope)] as const),
    ...adminScopes.map((scope) => [scope, () => ({ operator: true, adminScopes: [scope] })] as const),
    ['both publish scopes', () => ofTenant('property:publish', 'contact:publish')],
    ['publish and erase', () => ofTenant('property:publish', 'property:erase', 'contact:erase')],
    ['inspect and read', () => ofTenant('tenant:inspect', 'property:read', 'contact:read')],
    ['manage and erase', () => ofTenant('tenant:manage', 'contact:erase')],
    ['publish in two agencies', () => ofBoth('property:publish')],
    [
      'read and publish of a branch',
      () => ({
        grants: [
          {
            tenantId: service.tenant.tenantId,
            scopes: ['property:read', 'property:publish'],
            branches: ['norwich'],
          },
        ],
      }),
    ],
    [
      'some fields of contacts',
      () => ({
        grants: [
          {
            tenantId: service.tenant.tenantId,
            scopes: ['contact:read'],
            contact: { roles: ['vendor'], fields: ['last_name'] },
          },
        ],
      }),
    ],
  ]

  /** Fails where the view is not for this key, or the service refused what it asked. */
  async function isRight(page: Page, what: string): Promise<void> {
    await isShown(page)
    assert.ok(await isOpen(page), `${what}: ${page.url()} may not be seen`)
    const refusal = await page.locator('main [role=alert]').allInnerTexts()
    assert.deepEqual(refusal, [], `${what}: ${page.url()}`)
  }

  /** The links that lead to other views, as they stand in the page. */
  const linksOf = (page: Page) =>
    page.evaluate<string[]>(
      `[...new Set([...document.querySelectorAll('header.head a.brand, nav.menu a, main a[href*="/console/"]')].map((one) => one.href))]`,
    )

  it('leads from each way in to a view that it may see, and from there to none that it may not (D31)', async () => {
    for (const [name, options] of kinds.filter(([kind]) => isLongRun || inShortRun.includes(kind))) {
      const { text } = await service.issue(options())
      const { page, close } = await signedIn(browser, service, text)
      await isRight(page, `${name}, signed in`)
      await until(
        async () => page.url() !== `${service.url}/console/` || (await page.locator('h1').count()) > 0,
        {
          what: 'the arrival',
        },
      )
      await picture(page, `arrival-${name.replaceAll(/\W+/g, '-')}`)
      for (const link of await linksOf(page)) {
        await page.goto(link)
        await isRight(page, `${name}, by a link`)
        // In a short run the links of the first views are enough.
        if (!isLongRun) continue
        for (const further of (await linksOf(page)).slice(0, 12)) {
          await page.goto(further)
          await isRight(page, `${name}, by a link of ${link}`)
        }
      }
      await close()
    }
  })

  it('says what a key without a view may be used for, and leads to the reference (D31)', async () => {
    const { text } = await service.issue(ofTenant('tenant:manage'))
    const { page, close } = await signedIn(browser, service, text)
    await page.getByText('Its scopes: tenant:manage.').waitFor()
    await picture(page, 'no-view')
    await page.locator('main').getByRole('link', { name: 'API reference' }).click()
    await page.waitForURL(`${service.url}/docs`)
    await close()
  })

  it('says why a key that has ended or was revoked does not sign in (PROTOCOL §2.5)', async () => {
    const ended = await service.issue({ ...ofTenant('property:read'), expiresMs: Date.now() - 1_000 })
    const revoked = await service.issue(ofTenant('property:read'))
    await service.storage.keys.revokeKey(revoked.keyId, Date.now(), 'cli:test')
    const { page, close } = await signedIn(browser, service, service.tenant.readKey)
    await page.locator('.who summary').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const [{ text }, why] of [
      [ended, /expired/],
      [revoked, /revoked/],
    ] as const) {
      await page.getByLabel('Key', { exact: true }).fill(text)
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText(why).first().waitFor()
    }
    await close()
  })

  it('shows what a link leads to: a key that has ended, was revoked, opens several agencies or is of an operator (D31)', async () => {
    const { tenantId } = service.tenant
    const nowMs = Date.now()
    const ended = await service.issue({
      ...ofTenant('property:read'),
      label: 'old website',
      expiresMs: nowMs - 1_000,
    })
    const revoked = await service.issue({ ...ofTenant('property:read'), label: 'lost laptop' })
    await service.storage.keys.revokeKey(revoked.keyId, nowMs, 'cli:test')
    const both = await service.issue({ ...ofBoth('property:read'), label: 'portal of two' })
    const operator = await service.issue({
      operator: true,
      adminScopes: ['admin:inspect'],
      label: 'night shift',
    })
    const { page, go, close } = await signedIn(browser, service, service.operatorKey)
    for (const [path, label] of [
      [`/tenants/${tenantId}/keys?key=${ended.keyId}`, 'old website'],
      [`/tenants/${tenantId}/keys?key=${revoked.keyId}`, 'lost laptop'],
      [`/tenants/${tenantId}/keys?key=${both.keyId}`, 'portal of two'],
      [`/keys?key=${both.keyId}`, 'portal of two'],
      [`/keys?key=${operator.keyId}`, 'night shift'],
    ] as const) {
      await go(path)
      await page.locator('tr[aria-current]').getByText(label).first().waitFor()
      assert.equal(await page.locator('tr[aria-current]').count(), 1, path)
    }
    await picture(page, 'sought-key')
    // Without a link, keys that have ended are not in the way.
    await go(`/tenants/${tenantId}/keys`)
    await page.getByText('portal of two').first().waitFor()
    assert.equal(await page.getByText('old website').count(), 0)
    await close()
  })

  it('leads from the alert about an ended key that is still used to that key (D31)', async () => {
    const { page, close } = await signedIn(browser, service, service.operatorKey)
    const alert = page.locator('.faults li').filter({ hasText: 'Hên wefan £' })
    // Where this key arrives. To go there again would race with the arrival.
    await alert.getByRole('link').click()
    await page.locator('tr[aria-current]').getByText('Hên wefan £').first().waitFor()
    await close()
  })
})
