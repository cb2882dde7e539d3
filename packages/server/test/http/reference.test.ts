/** The page at `/docs`: it is made of what it describes, and everything in that has a place on it. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { codedFields } from '@property-events/protocol/schemas'
import { referenceFiles } from '../../../../scripts/reference/index.ts'
import { codeAnchor } from '../../../../scripts/reference/code-lists.ts'
import { problems } from '../../src/http/problem/problem.ts'
import { call } from '../support/http-client.ts'
import { committedDocument, documentPath, operationsOf } from '../support/openapi-document.ts'
import type { JsonSchema } from '../support/openapi-document.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const html = readFileSync(new URL('../../src/http/openapi/reference/page.html', import.meta.url), 'utf8')
const anchors = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

/** A place for each member, as `Details.sizing`; objects without a name of their own are part of where they stand. */
function membersOf(schema: JsonSchema, place: string): readonly string[] {
  const inner = ['anyOf', 'oneOf', 'items'].flatMap((name) => [schema[name] ?? []].flat())
  const members = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
  return [
    ...members.flatMap(([name, member]) => [`${place}.${name}`, ...membersOf(member, `${place}.${name}`)]),
    ...inner.flatMap((one) => membersOf(one as JsonSchema, place)),
  ]
}

describe('the reference', () => {
  const document = committedDocument()
  let service: TestService

  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it('is committed as `npm run openapi` makes it of openapi.json (D21)', () => {
    const made = referenceFiles(readFileSync(documentPath, 'utf8'))
    assert.equal(html, made.html, 'packages/server/src/http/openapi/reference is old: npm run openapi')
    const policy = readFileSync(
      new URL('../../src/http/openapi/reference/policy.json', import.meta.url),
      'utf8',
    )
    assert.equal(policy, made.policy, 'packages/server/src/http/openapi/reference is old: npm run openapi')
  })

  it('has one place for each operation, parameter, field, code, problem and header (D6, D21)', () => {
    const operations = operationsOf(document)
    const places = [
      ...operations.map(({ operationId }) => operationId),
      ...operations
        .filter(({ method }) => method !== 'HEAD')
        .flatMap(({ operationId, parameters = [] }) =>
          parameters.map(({ name }) => `${operationId}.${name}`),
        ),
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [
        name,
        ...membersOf(schema, name),
      ]),
      ...codedFields().flatMap(({ codes }) => codes.codes.map(({ code }) => codeAnchor(codes, code))),
      ...Object.keys(problems),
      ...operations.flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ headers = {} }) =>
          Object.keys(headers).map((name) => `header-${name}`),
        ),
      ),
    ]
    assert.ok(places.length > 900, String(places.length))
    const known = new Set(anchors)
    assert.deepEqual(
      [...new Set(places)].filter((place) => !known.has(place)),
      [],
    )
    assert.equal(known.size, anchors.length, 'no place is there twice')
  })

  it('explains each code, and names each field that has codes (D21)', () => {
    for (const { codes } of codedFields()) {
      for (const { code, label } of codes.codes) {
        const text = label.replaceAll('&', '&amp;')
        const item = `<li id="${codeAnchor(codes, code)}"><code>${code}</code> ${text}</li>`
        assert.ok(html.includes(item), item)
      }
    }
  })

  it('explains each parameter, field and problem (D21)', () => {
    const silent = [...html.matchAll(/<div id="([^"]+)"[^>]*><dt>.*<\/dt><dd>\s*<\/dd>/g)].map(([, id]) => id)
    assert.deepEqual(silent, [])
  })

  it('links only to its own sections and to openapi.json beside it (D21)', () => {
    const targets = [...html.matchAll(/ href="([^"]*)"/g)].map(([, target = '']) => target)
    assert.ok(targets.length > 1_000)
    const known = new Set(anchors.map((anchor) => `#${anchor}`))
    const others = targets.filter((target) => !known.has(target) && !target.startsWith('data:'))
    assert.deepEqual([...new Set(others)], ['openapi.json'])
    assert.doesNotMatch(html, / (?:src|srcset|action|style|on\w+)=|@import|url\(/i)
  })

  it('shows each operation in three languages and with an answer (D21)', () => {
    for (const { operationId, method } of operationsOf(document)) {
      if (method === 'HEAD') continue
      const [, section = ''] = html.split(`<section id="${operationId}"`)
      const [own = ''] = section.split('</section>')
      for (const language of ['curl', 'typescript', 'php'])
        assert.ok(own.includes(`data-language="${language}"`), `${operationId} ${language}`)
      assert.match(own, /<figcaption>Answer \d{3}<\/figcaption>/, operationId)
    }
  })

  it('is served with its policy, compressed or not, and not again to a browser that has it (D9, D21)', async () => {
    for (const coding of ['identity', 'gzip'] as const) {
      // The second has Node's HTTP answer.
      for (const further of [{}, { 'proxy-connection': 'keep-alive' }]) {
        const headers = { 'accept-encoding': coding, ...further }
        const answer = await call(service, '/docs', { headers })
        assert.equal(answer.status, 200)
        const { body } = answer
        assert.equal((coding === 'gzip' ? gunzipSync(body) : body).toString(), html)
        assert.equal(answer.headers['content-encoding'], coding === 'gzip' ? 'gzip' : undefined)
        assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
        assert.equal(answer.headers['cache-control'], 'no-cache')
        assert.equal(answer.headers.vary, 'accept-encoding')
        assert.equal(answer.headers['x-content-type-options'], 'nosniff')
        const etag = String(answer.headers.etag)
        const again = await call(service, '/docs', { headers: { ...headers, 'if-none-match': etag } })
        assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag])
        if (coding === 'gzip') assert.ok(body.byteLength <= 100_000, `${body.byteLength} bytes gzipped`)
      }
    }
  })

  it('may run its own script and style and nothing else, and send requests to this service alone (D9, D21)', async () => {
    const policy = String((await call(service, '/docs')).headers['content-security-policy'])
    const parts = new Map(
      policy.split('; ').map((part) => [part.split(' ', 1)[0] ?? '', part.split(' ').slice(1)]),
    )
    const hashes = (element: string) =>
      [...html.matchAll(new RegExp(`<${element}[^>]*>(.*?)</${element}>`, 'gs'))].map(
        ([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`,
      )
    assert.deepEqual(parts.get('script-src'), hashes('script'))
    assert.deepEqual(parts.get('style-src'), hashes('style'))
    for (const none of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
      assert.deepEqual(parts.get(none), [`'none'`], none)
    assert.deepEqual(parts.get('connect-src'), [`'self'`])
    assert.deepEqual(parts.get('img-src'), ['data:'])
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  })
})
