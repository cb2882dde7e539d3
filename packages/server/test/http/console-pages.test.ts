import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { call, problemOf } from '../support/http-client.ts'
import { consoleFolder, postSession, signIn } from '../support/console-page.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'

const policy =
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; ` +
  `form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } as const

describe('the page of the console', () => {
  const folder = consoleFolder()
  const services: TestService[] = []
  const start = async (options: TestServiceOptions = {}): Promise<TestService> => {
    const service = await startTestService({ console: { folder }, ...options })
    services.push(service)
    return service
  }
  let service: TestService
  before(async () => {
    service = await start()
  })
  after(() => Promise.all(services.map((one) => one.stop())))

  it('is at every path without a dot, and may load nothing but its own files (PROTOCOL §15.1)', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/tenants/7d1c3a54/feed?page=3&q=a.b',
      '/console/api',
    ]) {
      const { status, headers, text } = await call(service, path, { headers: browser })
      assert.equal(status, 200, path)
      assert.equal(headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(headers['content-security-policy'], policy)
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
      assert.match(text, /src="\/console\/console\.js"/)
    }
    for (const path of [
      '/console/other.js',
      '/console/a/console.js',
      '/console/%2e%2e/secret',
      '/console/..',
    ]) {
      const { status, text } = await call(service, path)
      assert.equal(status, 404, path)
      assert.equal(problemOf({ text }).code, 'path_not_found')
    }
  })

  it('has a script and a style that a browser caches and revalidates (PROTOCOL §15.1)', async () => {
    const script = await call(service, '/console/console.js', { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.equal(script.headers['content-encoding'], 'gzip')
    assert.equal(script.headers['cache-control'], 'no-cache')
    const { etag = '' } = script.headers
    const again = await call(service, '/console/console.js', {
      headers: { 'accept-encoding': 'gzip', 'if-none-match': etag },
    })
    assert.equal(again.status, 304)
    const style = await call(service, '/console/console.css')
    assert.equal(style.headers['content-type'], 'text/css; charset=utf-8')
    assert.equal(style.headers['content-security-policy'], policy)
  })

  it('finds its files under the base path, and shows pictures from the configured hosts (PROTOCOL §15.1)', async () => {
    const imageHosts = ['images.example.com', '*.cdn.example']
    const other = await start({ basePath: '/feeds', console: { folder, imageHosts } })
    const { headers, text } = await call(other, '/feeds/console/a/b')
    assert.match(text, /content="\/feeds\/console\/"/)
    assert.match(text, /href="\/feeds\/console\/console\.css"/)
    assert.doesNotMatch(text, /"\/console\//)
    assert.equal(
      headers['content-security-policy'],
      policy.replace(`data:;`, 'data: https://images.example.com https://*.cdn.example;'),
    )
    const session = await signIn({ port: other.port, basePath: '/feeds' }, { key: other.tenant.readKey })
    assert.match(session.answer.headers['set-cookie']?.[0] ?? '', /; Path=\/feeds\/console;/)
    const { images, serviceUrl }: { images: unknown; serviceUrl: string } = JSON.parse(session.answer.text)
    assert.deepEqual(images, { own: false, hosts: imageHosts })
    assert.equal(serviceUrl, other.url)
  })

  it('is where the address of the service leads a browser; if the console is off, that is the documentation (PROTOCOL §15.1)', async () => {
    const asBrowser = await call(service, '/', { headers: browser })
    assert.deepEqual([asBrowser.status, asBrowser.headers.location], [303, '/console/'])
    assert.equal((await call(service, '/')).headers.location, '/docs')
    const off = await start({ console: undefined })
    assert.equal((await call(off, '/', { headers: browser })).headers.location, '/docs')
    for (const path of ['/console', '/console/', '/console/session', '/console/api/v1/admin/self']) {
      assert.equal((await call(off, path)).status, 404, path)
    }
    assert.equal((await postSession(off, { key: off.tenant.readKey })).status, 404)
  })

  it('prevents a service from starting if one of its files is missing (PROTOCOL §15.1)', async () => {
    await assert.rejects(startTestService({ console: { folder: '/nowhere' } }), { code: 'ENOENT' })
  })

  it('is not in the description of the service, nor are the operations under it (PROTOCOL §15)', async () => {
    const { text } = await call(service, '/openapi.json')
    assert.doesNotMatch(text, /"\/console/)
  })
})
