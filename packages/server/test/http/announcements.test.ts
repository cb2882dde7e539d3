/** What is said of every answer of an operation, and what is taken from every request: each in one place, on every way in. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { call, getPath, listPath, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const deprecation = { sinceMs: Date.UTC(2026, 0, 31), sunsetMs: Date.UTC(2027, 0, 31, 12) }
const json = { 'content-type': 'application/json' }

onTransports('an operation whose end is announced', (transport) => {
  let service: TestService
  before(async () => {
    const deprecations = {
      listPropertyEvents: deprecation,
      publishPropertyEvents: deprecation,
      readPropertySnapshot: deprecation,
    }
    service = await startTestService({ ...transport, deprecations })
    await publish(service, { payload: property() })
  })
  after(() => service.stop())

  it('says so in each of its answers, and no other service does (D27)', async () => {
    const { readKey, publishKey } = service.tenant
    const body = JSON.stringify({ payload: property() })
    const post = (more: object) => ({ method: 'POST', key: publishKey, headers: json, body, ...more })
    const said = [
      [listPath, { key: readKey }, 200],
      [listPath, { key: readKey, method: 'HEAD' }, 200],
      [listPath.toUpperCase(), { key: readKey }, 200],
      [`http://elsewhere${listPath}`, { key: readKey }, 200],
      [listPath, { key: readKey, headers: { 'if-none-match': '*' } }, 304],
      [`${listPath}?page=0`, { key: readKey }, 400],
      [listPath, { key: 'nonsense' }, 401],
      [listPath, { key: publishKey }, 401],
      [listPath, { key: readKey, headers: { accept: 'text/html' } }, 200],
      ['/v1/property-events/snapshot', { key: readKey, headers: { accept: 'text/html' } }, 406],
      [listPath, { key: readKey, headers: { expect: 'x' } }, 417],
      ['/v1/property-events', post({}), 201],
      ['/v1/property-events', post({ headers: { ...json, expect: '100-continue' } }), 201],
      ['/v1/property-events', post({ key: readKey }), 403],
      ['/v1/property-events', post({ body: '{' }), 400],
      ['/v1/property-events', post({ headers: { 'content-type': 'application/xml' } }), 415],
      ['/v1/property-events/snapshot', { key: readKey }, 200],
    ] as const
    for (const [path, request, status] of said) {
      const answer = await call(service, path, request)
      assert.equal(answer.status, status, `${path} ${answer.text}`)
      assert.equal(answer.headers['deprecation'], '@1769817600', path)
      assert.equal(answer.headers['sunset'], 'Sun, 31 Jan 2027 12:00:00 GMT', path)
    }
    for (const path of [`${getPath}/x`, '/v1/heads', '/v1/property-events?after=0', '/nothing', '/docs']) {
      const { headers } = await call(service, path, { key: readKey })
      assert.ok(!('deprecation' in headers) && !('sunset' in headers), path)
    }
  })

  it('is marked in the document, and no other is (D27)', async () => {
    const { paths } = JSON.parse((await call(service, '/openapi.json')).text) as {
      readonly paths: Readonly<
        Record<string, Readonly<Record<string, { operationId?: string; deprecated?: boolean }>>>
      >
    }
    const marked = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ deprecated }) => deprecated === true)
    assert.deepEqual(marked.map(({ operationId = '' }) => operationId).toSorted(), [
      'headListPropertyEvents',
      'headReadPropertySnapshot',
      'listPropertyEvents',
      'publishPropertyEvents',
      'readPropertySnapshot',
    ])
  })
})

onTransports('a request’s line in the log', (transport) => {
  let service: TestService
  before(async () => {
    service = await startTestService(transport)
  })
  after(() => service.stop())

  /** The line of one request, by the id it was sent with. */
  let sent = 0
  async function lineOf(path: string, { headers = {}, ...request }: Parameters<typeof call>[2] = {}) {
    sent += 1
    const requestId = `sent-${sent}`
    const answer = await call(service, path, {
      ...request,
      headers: { ...headers, 'x-request-id': requestId },
    })
    const lines = () => service.logLines.filter((line) => line.includes(`"${requestId}"`))
    await until(() => lines().length > 0, { what: `the line of ${path}` })
    assert.equal(lines().length, 1)
    const line: Readonly<Record<string, unknown>> = JSON.parse(lines()[0] ?? '')
    return { answer, line }
  }

  it('names the trace that the request is a part of, on every way in (D27)', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const { readKey, publishKey } = service.tenant
    for (const traceparent of [
      `00-${traceId}-b7ad6b7169203331-01`,
      // A later version may say more.
      `cc-${traceId}-b7ad6b7169203331-01-what-comes-later`,
    ]) {
      const headers = { traceparent }
      for (const [path, request] of [
        [listPath, { key: readKey }],
        [listPath, { key: readKey, method: 'HEAD' }],
        [listPath, { key: 'nonsense' }],
        [`${listPath}?page=0`, { key: readKey }],
        ['/v1/%zz', {}],
        ['/v1/property-events/snapshot', { key: readKey }],
        ['/v1/property-events', { method: 'POST', key: publishKey, body: '{' }],
      ] as const) {
        const { line } = await lineOf(path, { ...request, headers })
        assert.equal(line['traceId'], traceId, path)
      }
    }
  })

  it('names none if it is malformed, which is no reason to refuse the request (D27)', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c'
    for (const traceparent of [
      '',
      'x',
      trace,
      `00-${trace}-b7ad6b7169203331`,
      `00-${trace.toUpperCase()}-b7ad6b7169203331-01`,
      `00-${trace}0-b7ad6b7169203331-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `ff-${trace}-b7ad6b7169203331-01`,
      `00-${trace}-b7ad6b7169203331-01-more`,
      `00-${trace}-b7ad6b7169203331-01, 00-${trace}-b7ad6b7169203331-01`,
      `00-${trace}-b7ad6b7169203331-0g`,
    ]) {
      const { answer, line } = await lineOf(listPath, {
        key: service.tenant.readKey,
        headers: { traceparent },
      })
      assert.equal(answer.status, 200, traceparent)
      assert.ok(!('traceId' in line), traceparent)
    }
  })

  it('is of a broken percent-encoding as of any refusal, and its answer has the same headers (D6, D9)', async () => {
    const usual = await lineOf('/v1/nothing', { key: service.tenant.readKey })
    const bare = (headers: object) => Object.keys(headers).filter((name) => name !== 'content-length')
    for (const path of ['/v1/%zz', '/v1/%', `${getPath}/%ff`, '/v1/properties/%c3%28', '/%E0%A4%A']) {
      const { answer, line } = await lineOf(path, { key: service.tenant.readKey })
      assert.equal(answer.status, 400, path)
      assert.equal(JSON.parse(answer.text).code, 'invalid_target')
      assert.deepEqual(bare(answer.headers), bare(usual.answer.headers), path)
      assert.deepEqual(Object.keys(line), Object.keys(usual.line), path)
      assert.deepEqual([line['route'], line['status'], line['problem']], ['none', 400, 'invalid_target'])
    }
  })
})
