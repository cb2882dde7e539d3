/** The page that shows changes as they happen, in a real browser: its `EventSource` goes on where it was. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { blocksIn, textOf } from '../packages/cli/test/support/documents.ts'
import { startBrowser, withBrowser } from '../packages/server/test/support/browser.ts'
import { freePorts } from '../packages/server/test/support/free-ports.ts'
import { publish } from '../packages/server/test/support/http-client.ts'
import { property } from '../packages/server/test/support/property.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'
import { until } from '../packages/server/test/support/until.ts'

const file = join(import.meta.dirname, 'live-page.ts')
const waitMs = 30_000

it('the route in front of the stream is the example, as the document shows it', () => {
  const document = 'docs/operating/browsers.md'
  const [block] = blocksIn(document, textOf(document)).filter(({ language }) => language === 'ts')
  const shown = block?.text.trim().replaceAll(/^ */gm, '') ?? assert.fail('the document has a block')
  assert.ok(readFileSync(file, 'utf8').replaceAll(/^ */gm, '').includes(shown))
})

describe('the page that shows changes', withBrowser, () => {
  let service: TestService
  let browser: Browser
  let page: Page
  let route: ChildProcess
  let port = 0

  /** Resolves once it answers. */
  async function startRoute(): Promise<ChildProcess> {
    const { url, tenant } = service
    const environment = {
      ...process.env,
      PROPERTY_EVENTS_URL: url,
      PROPERTY_EVENTS_KEY: tenant.readKey,
      PORT: String(port),
    }
    const child = spawn(process.execPath, [file], { env: environment, stdio: 'ignore' })
    await until(() =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    return child
  }
  async function stopRoute(): Promise<void> {
    const ended = once(route, 'exit')
    route.kill('SIGKILL')
    await ended
  }

  before(async () => {
    service = await startTestService()
    ;[port = 0] = await freePorts(1)
    route = await startRoute()
    browser = await startBrowser()
    page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`, { timeout: waitMs })
  })
  after(async () => {
    await browser.close()
    await stopRoute()
    await service.stop()
  })

  const shown = async () => page.locator('li').allTextContents()
  const address = (name: string) => ({ payload: property({ address: { display_address: name } }) })

  /** Whatever is under way: the route may not be listening yet, or the browser. */
  async function showsSoon(name: string): Promise<void> {
    await until(
      async () => {
        await publish(service, address(name))
        return (await shown()).some((text) => text.includes(name))
      },
      { what: name, everyMs: 200 },
    )
  }

  it('shows what is published, each event once and in order (L1, PROTOCOL §13)', async () => {
    await showsSoon('The first one')
    const names = Array.from({ length: 10 }, (_, index) => `Home ${index}`)
    for (const name of names) await publish(service, address(name))
    await until(async () => (await shown()).some((text) => text.includes('Home 9')))
    const own = (await shown()).flatMap((text) => /Home \d/.exec(text)?.[0] ?? [])
    assert.deepEqual(own.toReversed(), names)
  })

  it('goes on by itself after its server was started again (L1, PROTOCOL §13)', async () => {
    await stopRoute()
    route = await startRoute()
    await showsSoon('After the start')
  })
})
