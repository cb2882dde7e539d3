/** The console behind a real nginx with TLS, at a prefix, as deploy/nginx and docs/console.md have it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as requestByTls } from 'node:https'
import type { RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../server/test/support/browser.ts'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { call } from '../../../server/test/support/http-client.ts'
import { needsNginx, startNginxWithTls } from '../../../server/test/support/nginx.ts'
import { property } from '../../../server/test/support/property.ts'
import { signCertificate } from '../../../cli/test/support/certificate.ts'
import { builtFolder, startConsoleService } from '../support/signed-in.ts'
import type { ConsoleService } from '../support/signed-in.ts'
import { visit, waitMs } from '../support/visit.ts'
import type { Visit } from '../support/visit.ts'

const basePath = '/feeds'
const host = 'feed.example.com'
/** As people reach it. */
const url = `https://${host}${basePath}`
const needsOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed: not tried'
const skip = withBrowser.skip || needsNginx || needsOpenssl

describe('the console behind nginx, with TLS and at a prefix', { skip }, () => {
  let folder: string
  let service: ConsoleService
  let nginx: ChildProcess
  let browser: Browser
  let port: number

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'property-events-console-nginx-'))
    port = (await freePorts(1))[0] ?? 0
    service = await startConsoleService({
      basePath,
      trustedProxies: 1,
      console: { folder: builtFolder, url },
    })
    const certificate = signCertificate(folder, host)
    const nodes = [service.port, service.port] as const
    nginx = await startNginxWithTls(folder, port, nodes, { ...certificate, prefix: basePath })
    browser = await startBrowser([`--host-resolver-rules=MAP ${host}:443 127.0.0.1:${port}`])
  })
  after(async () => {
    await browser?.close()
    if (nginx?.exitCode === null && nginx.kill('SIGTERM')) await once(nginx, 'exit')
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** `asked`: addresses that are asked for from the beginning on. */
  async function signIn(key: string, asked: string[] = []): Promise<Visit> {
    const look = { width: 1_440, scheme: 'light' } as const
    const visitor = await visit(browser, `${url}/console/`, look, { ignoreHTTPSErrors: true })
    visitor.page.setDefaultTimeout(waitMs)
    visitor.page.on('request', (request) => asked.push(request.url()))
    await visitor.page.getByLabel('Key', { exact: true }).fill(key)
    await visitor.page.keyboard.press('Enter')
    await visitor.page.locator('main#view').waitFor()
    return visitor
  }

  it('signs in with a cookie for https and its own path only, which scripts cannot see (PROTOCOL §15.3)', async () => {
    const { page, close } = await signIn(service.operatorKey)
    await page.getByRole('rowheader', { name: 'First' }).waitFor()
    const cookies = await page.context().cookies()
    assert.deepEqual(
      cookies.map(({ path, secure, httpOnly, sameSite, domain }) => ({
        path,
        secure,
        httpOnly,
        sameSite,
        domain,
      })),
      [{ path: `${basePath}/console`, secure: true, httpOnly: true, sameSite: 'Strict', domain: host }],
    )
    assert.equal(await page.evaluate('document.cookie'), '')
    await page.reload()
    await page.getByRole('rowheader', { name: 'First' }).waitFor()
    await close()
  })

  it('is live: published events arrive as soon as the service answers, and nginx holds nothing back (PROTOCOL §13)', async () => {
    const asked: string[] = []
    const { page, close } = await signIn(service.tenant.readKey, asked)
    const publishAt = async (street: string): Promise<void> => {
      const { status } = await call(service, `${basePath}/v1/property-events`, {
        method: 'POST',
        key: service.tenant.publishKey,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([{ payload: property({ address: { display_address: street } }) }]),
      })
      assert.equal(status, 201)
    }
    await publishAt('Before, Ely')
    await page.getByText('Before, Ely').waitFor()
    for (const street of ['First, Ely', 'Second, Ely']) {
      await publishAt(street)
      await page.getByText(street).waitFor()
    }
    const waiting = asked.filter((address) => /[?&]wait=/.test(address))
    assert.ok(waiting.length > 0)
    for (const address of waiting) {
      assert.equal(new URL(address).pathname, `${basePath}/console/api/v1/heads`)
    }
    await close()
  })

  it('refuses a host that is not its own, and requests that no proxy with https has forwarded (PROTOCOL §15.2)', async () => {
    const signIn = JSON.stringify({ key: service.operatorKey })
    const through = (host: string) => post(port, `${basePath}/console/session`, host, signIn)
    const foreign = await through('attacker.example')
    assert.deepEqual(
      [foreign.status, foreign.code, foreign.cookie],
      [403, 'console_foreign_request', undefined],
    )
    const own = await through(host)
    assert.equal(own.status, 201)
    assert.match(own.cookie ?? '', /; Secure/)
  })
})

interface Posted {
  readonly status: number
  readonly code: string | undefined
  readonly cookie: string | undefined
}

/** As the page itself sends it, but for the name of the host. */
function post(port: number, path: string, host: string, body: string): Promise<Posted> {
  const headers = {
    host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'sec-fetch-site': 'same-origin',
  }
  const options: RequestOptions = { port, path, method: 'POST', headers, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    const asking = requestByTls({ ...options, host: '127.0.0.1' }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('error', reject)
      response.on('end', () => {
        const { code }: { readonly code?: string } = JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, code, cookie: response.headers['set-cookie']?.[0] })
      })
    })
    asking.on('error', reject)
    asking.end(body)
  })
}
