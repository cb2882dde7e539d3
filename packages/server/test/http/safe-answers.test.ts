/** What every answer says to a browser: only the page at `/docs` is meant to be shown by one. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, getPath, listPath, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('what a browser is told', { byNode: true }, (service) => {
  /** One of each kind: a page, an event, nothing new, a receipt, a document, a refusal. */
  async function answers(): Promise<readonly (readonly [string, Answer])[]> {
    const { readKey, publishKey } = service().tenant
    const { events } = await publish(service(), { payload: property() })
    const page = await call(service(), listPath, { key: readKey })
    const etag = String(page.headers.etag)
    return [
      ['a page', page],
      ['an event', await call(service(), `${getPath}/${events[0]?.id ?? ''}`, { key: readKey })],
      ['nothing new', await call(service(), listPath, { key: readKey, headers: { 'if-none-match': etag } })],
      [
        'a receipt',
        await call(service(), '/v1/property-events', {
          method: 'POST',
          key: publishKey,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ payload: property() }),
        }),
      ],
      ['a snapshot', await call(service(), '/v1/properties', { key: readKey })],
      ['the document', await call(service(), '/openapi.json')],
      ['the documentation', await call(service(), '/docs')],
      ['no key', await call(service(), listPath)],
      ['no such path', await call(service(), '/nope')],
      ['no such method', await call(service(), listPath, { method: 'DELETE' })],
    ]
  }

  it('never to guess a type, in no answer whatever, nor that other origins may read it, nor a cookie (D9)', async () => {
    for (const [what, { headers }] of await answers()) {
      assert.equal(headers['x-content-type-options'], 'nosniff', what)
      const others = Object.keys(headers).filter((name) =>
        /^access-control-|^set-cookie|^server$|^x-powered-by/.test(name),
      )
      assert.deepEqual(others, [], what)
    }
  })

  it('to run and load nothing but its own on the one page there is, and to show no other answer as one (D9, D21)', async () => {
    for (const [what, { headers, text }] of await answers()) {
      const type = headers['content-type'] ?? ''
      if (what !== 'the documentation') {
        assert.doesNotMatch(type, /html|xml|javascript/, what)
        continue
      }
      assert.equal(type, 'text/html; charset=utf-8')
      const policy = String(headers['content-security-policy'])
      for (const part of [
        `default-src 'none'`,
        `base-uri 'none'`,
        `form-action 'none'`,
        `frame-ancestors 'none'`,
        `require-trusted-types-for 'script'`,
      ])
        assert.ok(policy.includes(part), part)
      assert.doesNotMatch(policy, /unsafe|\*/)
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.match(policy, /script-src (?:'sha256-[^']+' ?)+;/)
      assert.doesNotMatch(text, /<script[^>]+src|\son\w+="/i)
    }
  })

  it('to keep no receipt and no refusal, and to keep events for one user and to ask each time (D4, D6)', async () => {
    const said = Object.fromEntries(
      (await answers()).map(([what, { headers }]) => [what, headers['cache-control']]),
    )
    for (const what of ['a receipt', 'no key', 'no such path']) assert.equal(said[what], 'no-store', what)
    for (const what of ['a page', 'an event', 'nothing new'])
      assert.equal(said[what], 'private, no-cache', what)
  })
})
