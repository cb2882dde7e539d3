/** What holds of every view of the console, and of those that are added to it, in a real browser at a real service. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { grantScopes } from '@property-events/protocol'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { until } from '../../../server/test/support/until.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { makeWebhook } from '../../../server/test/support/webhooks.ts'
import { contact } from '../../../server/test/support/property.ts'
import {
  isOpen,
  isShown,
  movingParts,
  partsOffThePage,
  shownParts,
  viewPaths,
} from '../support/every-view.ts'
import { signedIn, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { publishStory } from '../support/story.ts'
import { everyLook, fitsItsWidth, hasNoFindings, picture, visit } from '../support/visit.ts'
import type { Look } from '../support/visit.ts'

/** One of each kind: all of them are for the long run. */
const usual: readonly Look[] = [
  { width: 360, scheme: 'dark' },
  { width: 1_440, scheme: 'light' },
]
/** Of a window before it is zoomed, in pixels. */
const wholeWidth = 1_280

describe('every view', withBrowser, () => {
  let service: ConsoleService
  let browser: Browser
  /** Of an agency, with every scope that it can have: what operators do not do, such as publishing. */
  let agencyKey: string
  const parts = {
    tenantId: '',
    feed: 'property',
    agentRef: randomUUID(),
    contactRef: randomUUID(),
    operationId: 'getPropertyEvent',
    webhookId: '',
  }

  before(async () => {
    service = await startConsoleService()
    const { tenantId } = service.tenant
    parts.tenantId = tenantId
    agencyKey = (await service.issue({ grants: [{ tenantId, scopes: [...grantScopes] }] })).text
    await publishStory(service, parts.agentRef)
    parts.webhookId = (await makeWebhook(service, agencyKey, { label: 'Siop £' })).id
    await publish(service, { payload: contact({ contact_ref: parts.contactRef }) }, { feed: 'contact' })
    browser = await startBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Shows each view with the first of two keys that may see it. Each session must have asked no other host, and broken no rule. */
  async function inEachView(
    look: Look,
    use: (page: Page, path: string, index: number) => Promise<void>,
  ): Promise<void> {
    const tenant = `/tenants/${parts.tenantId}`
    const states = [
      `${tenant}/feeds/property?number=2`,
      `${tenant}/properties/${parts.agentRef}?raw=5`,
      '/nowhere',
    ]
    const all = [...viewPaths(parts), ...states]
    let left: readonly string[] = all
    for (const key of [service.operatorKey, agencyKey]) {
      const { page, go, close } = await signedIn(browser, service, key, look)
      const closed: string[] = []
      for (const path of left) {
        await go(path)
        await isShown(page)
        if (await isOpen(page)) await use(page, path, all.indexOf(path))
        else closed.push(path)
      }
      left = closed
      await close()
    }
    assert.deepEqual(left, [], 'each view is open to one of the keys')
  }

  for (const look of isLongRun ? everyLook : usual) {
    const name = `${look.width}-${look.scheme}`
    it(`fits its width, passes axe, sends no request to another host and keeps its policy: ${name} (D31)`, async () => {
      await inEachView(look, async (page, path, index) => {
        await picture(page, `every${nameOf(path)}-${name}`)
        await fitsItsWidth(page, `${path} at ${name}`)
        // Axe takes a second for each view. In a short run it is asked once for each: in dark on a phone, or in light on a desk.
        const isItsTurn = isLongRun || (index % 2 === 0) === (look.scheme === 'dark')
        if (isItsTurn) await hasNoFindings(page, `${path} at ${name}`)
      })
    })
  }

  it('loses nothing at a zoom of 200 %, never scrolls sideways, and is still for people who prefer reduced motion (D31)', async () => {
    await inEachView({ width: wholeWidth, scheme: 'light' }, async (page, path) => {
      let lost = await lostAtHalf(page)
      await picture(page, `zoomed${nameOf(path)}`)
      await fitsItsWidth(page, `${path} at 200 %`)
      assert.deepEqual(await partsOffThePage(page), [], `${path} at 200 %`)
      // On a narrow page an event replaces the list, and a button leads back.
      if (!path.includes('number=')) {
        const hasAll = async () => lost.length === 0 || (lost = await lostAtHalf(page)).length === 0
        // What goes as an answer comes is not lost: it is not there the next time.
        await until(hasAll, { what: `what is lost of ${path} at 200 %` }).catch(() => undefined)
        assert.deepEqual(lost, [], `${path} at 200 %`)
      }
      await page.setViewportSize({ width: wholeWidth, height: wholeWidth })
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
      assert.deepEqual(await movingParts(page), [], path)
    })
  })

  /** What can be used or read at the whole width, and is not there at a zoom of 200 %: a page is laid out as in a window of half the size. */
  async function lostAtHalf(page: Page): Promise<readonly string[]> {
    await page.setViewportSize({ width: wholeWidth, height: wholeWidth })
    const whole = await shownParts(page)
    await page.setViewportSize({ width: wholeWidth / 2, height: wholeWidth / 2 })
    const zoomed = await shownParts(page)
    return whole.filter((part) => !zoomed.includes(part))
  }

  it('would fail if it sent a request to another host, or did what its policy forbids (D31)', async () => {
    const { page, strangers, complaints, close } = await visit(browser, `${service.url}/console/`, {
      width: 1_440,
      scheme: 'light',
    })
    await page.evaluate(
      `document.body.append(Object.assign(new Image(), { src: 'http://images.invalid/a.png' }))`,
    )
    await page.evaluate(`document.body.setAttribute('style', 'color: red')`)
    const elsewhere = service.url.replace('127.0.0.1', 'localhost')
    await page.evaluate(`location.assign(${JSON.stringify(`${elsewhere}/docs`)})`)
    await page.waitForURL((url) => url.hostname === 'localhost')
    assert.ok(complaints.some((text) => text.startsWith('policy: img-src http://images.invalid/')))
    assert.ok(complaints.some((text) => text.startsWith('policy: style-src')))
    assert.ok(strangers.includes(`${elsewhere}/docs`))
    await assert.rejects(close, /strangers/)
  })
})

function nameOf(path: string): string {
  return path.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'x').replaceAll(/\W+/g, '-')
}
