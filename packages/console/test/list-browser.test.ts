/** The list of a million events in a real browser, and what the console does when the service is away. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../server/test/support/browser.ts'
import { isLongRun } from '../../server/test/support/on-engines.ts'
import { until } from '../../server/test/support/until.ts'
import { dateOf, fakeTenant, startFakeService } from './support/fake-service.ts'
import type { FakeService } from './support/fake-service.ts'
import { everyLook, fitsItsWidth, hasNoFindings, picture, visit, waitMs } from './support/visit.ts'
import type { Look, Visit } from './support/visit.ts'

const million = 1_000_000
const wide: Look = { width: 1_440, scheme: 'light' }
const feedPath = `/console/tenants/${fakeTenant}/feeds/property`
const someKey = `pev_4fgHt8Kq2LmN_${'a'.repeat(30)}`
/** The arithmetic of it is tried in every run, without a browser. */
const inLongRun = { skip: isLongRun ? false : 'only in npm run test:long' } as const

describe('the list in a browser', withBrowser, () => {
  let service: FakeService
  let browser: Browser

  before(async () => {
    service = await startFakeService(million)
    browser = await startBrowser()
  })
  after(async () => {
    await browser.close()
    await service.close()
  })

  async function open(path: string, look = wide): Promise<Visit> {
    const visited = await visit(browser, `${service.url}${path}`, look)
    const { page } = visited
    await page.getByLabel('Key', { exact: true }).fill(someKey, { timeout: waitMs })
    await page.getByRole('button', { name: 'Sign in' }).click()
    return visited
  }

  it('reaches the first and the last of a million events, and any page, number and moment, with at most 60 rows in the page (D31)', async () => {
    service.count = million
    const { page, strangers, complaints, close } = await open(feedPath)
    await shows(page, million)
    await jump(page, 'Page', '6,214')
    await shows(page, 621_301)
    await jump(page, 'Number', '#123,456')
    await shows(page, 123_456)
    await jump(page, 'Time', `${dateOf(777_777)}Z`)
    await shows(page, 777_777)
    await page.getByRole('button', { name: 'Oldest' }).click()
    await shows(page, 1)
    await page.getByRole('button', { name: 'Newest' }).click()
    await shows(page, million)
    const grid = page.getByRole('grid')
    await grid.focus()
    await page.keyboard.press('Home')
    await shows(page, 1)
    await page.keyboard.press('PageDown')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByText('Payload').waitFor({ timeout: waitMs })
    assert.equal(await grid.getAttribute('aria-rowcount'), String(million + 1))
    await assertRowsAreTheContracts(page)
    await jump(page, 'Time', 'the day before')
    assert.match(await page.getByRole('alert').innerText(), /Enter a time/)
    assert.deepEqual([strangers, complaints], [[], []])
    await close()
  })

  it(
    'asks for at most four pages in a fling of 300 frames, and shows the rows where it rests (D31)',
    inLongRun,
    async () => {
      service.count = million
      const { page, close } = await open(`${feedPath}?number=1000`)
      await shows(page, 1_000)
      const before = service.asked.length
      const most = await page.evaluate<number>(`new Promise((resolve) => {
      const scroller = document.querySelector('[role=grid]')
      let [frames, most] = [0, 0]
      const step = () => {
        scroller.scrollTop += 1_500
        most = Math.max(most, document.querySelectorAll('[data-row]').length)
        frames += 1
        if (frames < 300) requestAnimationFrame(step)
        else resolve(most)
      }
      requestAnimationFrame(step)
    })`)
      assert.ok(most <= 60, `${most} rows`)
      await page.locator('.seen .coming').first().waitFor({ state: 'detached', timeout: waitMs })
      const asked = service.asked.slice(before).filter((path) => path.includes('getevents'))
      assert.ok(asked.length <= 4, asked.join('\n'))
      await assertRowsAreTheContracts(page)
      await close()
    },
  )

  it('shows the events of one type, from the last ten thousand numbers or from a chosen number (PROTOCOL §13.4)', async () => {
    service.count = million
    const { page, close } = await open(`${feedPath}?type=PropertyUnpublished`)
    await page.getByText('All events of this type from number 990,001.').waitFor({ timeout: waitMs })
    await page.getByRole('gridcell', { name: '999,999', exact: true }).waitFor({ timeout: waitMs })
    const types = await page.locator('.seen .event-type').allInnerTexts()
    assert.deepEqual([...new Set(types)], ['Unpublished'])
    await jump(page, 'Number', '500,000')
    await page.getByText(/^Searched numbers 500,000 to/).waitFor({ timeout: waitMs })
    await page.getByRole('button', { name: 'Search further' }).click()
    await page.getByRole('combobox', { name: 'Type' }).selectOption('')
    await shows(page, million)
    await close()
  })

  it('follows new events, stops when the user scrolls, counts what is new and leads back (D31)', async () => {
    service.count = 5_000
    const { page, close } = await open(feedPath)
    await shows(page, 5_000)
    service.count = 5_001
    await shows(page, 5_001)
    await page.getByRole('grid').focus()
    await page.keyboard.press('Home')
    await shows(page, 1)
    service.count = 5_038
    await page.getByRole('button', { name: 'paused · 37 new' }).click({ timeout: waitMs })
    await shows(page, 5_038)
    await assertRowsAreTheContracts(page)
    await close()
  })

  it('announces new events to screen readers at most every five seconds, and leaves none out (D31)', async () => {
    service.count = 1_000
    const { page, close } = await open(feedPath)
    await shows(page, 1_000)
    // From the first line of its script on, so that nothing of the page goes by another clock.
    await page.clock.install()
    await page.reload()
    await shows(page, 1_000)
    await page.evaluate(`window.told = []
      new MutationObserver(() => {
          const { textContent } = document.querySelector('.live [role=status]')
          if (textContent !== '') window.told.push([Date.now(), textContent])
        })
        .observe(document.querySelector('.live [role=status]'), { childList: true, characterData: true, subtree: true })`)
    const told = () => page.evaluate<readonly (readonly [number, string])[]>('window.told')
    // Three events a second for as long as it takes to be told three times.
    const goesOn = async (): Promise<boolean> => {
      service.count += 3
      await page.clock.runFor(1_000)
      return (await told()).length >= 3
    }
    await until(goesOn, { what: 'the third announcement' })
    const heard = await told()
    for (const [index, [atMs, text]] of heard.entries()) {
      const before = heard[index - 1]
      if (before === undefined) continue
      assert.ok(atMs - before[0] >= 5_000, `${text} after ${atMs - before[0]} ms`)
      assert.equal(totalOf(text), totalOf(before[1]) + Number(/^\d+/.exec(text)?.[0]))
    }
    await close()
  })

  it(
    'says how old the list is while the service is away, and then continues by itself (D31)',
    inLongRun,
    async () => {
      service.count = 500
      const { page, close } = await open(feedPath)
      await shows(page, 500)
      service.isAway = true
      await page.getByText('The service does not answer.').first().waitFor({ timeout: waitMs })
      service.isAway = false
      service.count = 501
      await shows(page, 501)
      await page
        .getByText('The service does not answer.')
        .first()
        .waitFor({ state: 'detached', timeout: waitMs })
      await close()
    },
  )

  it(
    'shows markup, scripts and direction-changing characters of payloads as plain text (D31)',
    inLongRun,
    async () => {
      service.count = 100
      const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script> javascript:alert(3) \u202Egnp'
      service.texts = { address: hostile, town: hostile, description: hostile + 'x'.repeat(200_000) }
      const { page, strangers, complaints, close } = await open(`${feedPath}?number=50`)
      await page
        .getByRole('complementary')
        .getByText('<img src=x onerror=alert(1)>')
        .first()
        .waitFor({ timeout: waitMs })
      await fitsItsWidth(page, 'hostile texts')
      assert.equal(await page.evaluate(`document.querySelectorAll('main img, main script').length`), 0)
      assert.deepEqual([strangers, complaints], [[], []])
      service.texts = {}
      await close()
    },
  )

  it('passes axe, and fits each width in both themes (D31)', async () => {
    service.count = million
    const looks = isLongRun ? everyLook : [{ width: 360, scheme: 'dark' } as const]
    for (const look of looks) await looksWell(look)
  })

  async function looksWell(look: Look): Promise<void> {
    const name = `${look.width}-${look.scheme}`
    const { page, strangers, complaints, close } = await visit(browser, `${service.url}/console/`, look)
    const isWell = async (view: string): Promise<void> => {
      await picture(page, `${view}-${name}`)
      await hasNoFindings(page, `${view} at ${name}`)
      await fitsItsWidth(page, `${view} at ${name}`)
    }
    await page.getByLabel('Key', { exact: true }).waitFor({ timeout: waitMs })
    await isWell('sign-in')
    await page.getByLabel('Key', { exact: true }).fill(someKey)
    await page.keyboard.press('Enter')
    await page.getByRole('rowheader', { name: 'Hill & Co' }).waitFor({ timeout: waitMs })
    await page.getByText('1,000,000').first().waitFor({ timeout: waitMs })
    await isWell('overview')
    await page.getByRole('link', { name: 'Hill & Co' }).click()
    await shows(page, million)
    await isWell('feed')
    await page.locator(`[data-row="${million - 3}"]`).click()
    await page.getByRole('complementary').getByText('Payload').waitFor({ timeout: waitMs })
    await isWell('event')
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor({ timeout: waitMs })
    await isWell('help')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached', timeout: waitMs })
    await page.keyboard.press('/')
    await page.keyboard.type('Hill')
    await page.getByRole('dialog').getByRole('option').first().waitFor({ timeout: waitMs })
    await isWell('find')
    assert.deepEqual([strangers, complaints], [[], []], name)
    await close()
  }

  /** Of `15 new events, 1,045 events in all`. */
  function totalOf(text: string): number {
    return Number(/([\d,]+) events in all$/.exec(text)?.[1]?.replaceAll(',', ''))
  }

  /** The row of an event has come, and is seen. */
  async function shows(page: Page, number: number): Promise<void> {
    const text = String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
    const row = page.locator(`[data-row="${number - 1}"]:not(.coming)`)
    await row.getByText(text, { exact: true }).first().waitFor({ timeout: waitMs })
  }

  async function jump(page: Page, field: string, text: string): Promise<void> {
    await page.getByLabel(field, { exact: true }).fill(text)
    await page.getByLabel(field, { exact: true }).press('Enter')
  }

  /** Row n shows the event that the contract's list has there: here the event with the number n + 1. */
  async function assertRowsAreTheContracts(page: Page): Promise<void> {
    const rows = await page.evaluate<[string, string, string][]>(
      `[...document.querySelectorAll('[data-row]:not(.coming)')].map((row) => [row.dataset.row, row.ariaRowIndex, row.firstElementChild.textContent])`,
    )
    assert.ok(rows.length > 10)
    for (const [row, index, number] of rows) {
      assert.equal(Number(number.replaceAll(',', '')), Number(row) + 1)
      assert.equal(Number(index), Number(row) + 2)
    }
  }
})
