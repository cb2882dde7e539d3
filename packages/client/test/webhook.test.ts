/** Requests as a foreign library of Standard Webhooks signs them, and everything that must be refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { InvalidOptionError, InvalidWebhookError, verifyWebhook } from '../src/index.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const data = { feed: 'property', event: { payload: '{"display_address":"Tŷ â gardd – £450,000 🏡"}' } }
const body = JSON.stringify({ type: 'property.event', timestamp: '2026-11-29T10:00:00.000Z', data })
const id = 'msg_0192f0d0_42'

function headersOf(signedWith: string, at = new Date()): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(signedWith).sign(id, at, body),
  }
}

function without(headers: Record<string, string>, name: string): object {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))
}

describe('verifyWebhook', () => {
  it('hands out what a foreign library has signed, as text and as bytes, 100 of 100', async () => {
    for (let count = 0; count < 100; count += 1) {
      const key = `whsec_${Buffer.alloc(24 + (count % 40), count).toString('base64')}`
      const request = {
        body: count % 2 === 0 ? body : new TextEncoder().encode(body),
        headers: headersOf(key),
      }
      const message = await verifyWebhook(request, { secrets: key })
      assert.deepEqual(message, { id, type: 'property.event', data })
    }
  })

  it('takes headers in any case, as Headers and as the object of a server', async () => {
    const headers = headersOf(secret)
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    )
    for (const given of [headers, upper, new Headers(headers)])
      assert.equal((await verifyWebhook({ body, headers: given }, { secrets: secret })).id, id)
  })

  it('takes either secret while one replaces the other', async () => {
    for (const key of [secret, other]) {
      const message = await verifyWebhook({ body, headers: headersOf(key) }, { secrets: [other, secret] })
      assert.equal(message.id, id)
    }
    const both = { ...headersOf(secret) }
    both['webhook-signature'] =
      `v1a,Zm9v ${headersOf(other)['webhook-signature']} ${both['webhook-signature']}`
    assert.equal((await verifyWebhook({ body, headers: both }, { secrets: secret })).id, id)
  })

  const refused: readonly (readonly [
    name: string,
    change: (headers: Record<string, string>) => object,
    body?: string,
  ])[] = [
    ['another secret', () => headersOf(other)],
    ['another body', (headers) => headers, `${body} `],
    ['another id', (headers) => ({ ...headers, 'webhook-id': 'msg_0192f0d0_43' })],
    ['no signature', (headers) => without(headers, 'webhook-signature')],
    ['no id', (headers) => without(headers, 'webhook-id')],
    ['no time', (headers) => without(headers, 'webhook-timestamp')],
    ['an empty signature', (headers) => ({ ...headers, 'webhook-signature': 'v1,' })],
    ['a signature that is no base64', (headers) => ({ ...headers, 'webhook-signature': 'v1,???' })],
    [
      'another scheme',
      (headers) => ({ ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1,', 'v2,') }),
    ],
    ['a time that is none', (headers) => ({ ...headers, 'webhook-timestamp': 'now' })],
    [
      'another time',
      (headers) => ({ ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }),
    ],
    ['a time 6 minutes ago', () => headersOf(secret, new Date(Date.now() - 360_000))],
    ['a time 6 minutes ahead', () => headersOf(secret, new Date(Date.now() + 360_000))],
  ]
  for (const [name, change, sent = body] of refused) {
    it(`refuses ${name}`, async () => {
      const headers = change(headersOf(secret)) as Record<string, string>
      await assert.rejects(verifyWebhook({ body: sent, headers }, { secrets: secret }), (error) => {
        assert.ok(error instanceof InvalidWebhookError)
        assert.equal(error.code, 'invalid_webhook')
        assert.ok(!error.message.includes(secret) && !error.message.includes('Tŷ'))
        return true
      })
    })
  }

  it('refuses a body that is signed and no message', async () => {
    for (const text of ['[]', '{}', 'not JSON', '{"type":1}']) {
      const at = new Date()
      const headers = {
        ...headersOf(secret, at),
        'webhook-signature': new Webhook(secret).sign(id, at, text),
      }
      await assert.rejects(verifyWebhook({ body: text, headers }, { secrets: secret }), InvalidWebhookError)
    }
  })

  it('says that a secret is none, and looks at ten signatures at most', async () => {
    for (const wrong of ['', 'whsec_', 'whsec_???', secret.slice('whsec_'.length)])
      await assert.rejects(
        verifyWebhook({ body, headers: headersOf(secret) }, { secrets: wrong }),
        InvalidOptionError,
      )
    const headers = headersOf(secret)
    const many = `${'v1,Zm9v '.repeat(10)}${headers['webhook-signature']}`
    await assert.rejects(
      verifyWebhook({ body, headers: { ...headers, 'webhook-signature': many } }, { secrets: secret }),
      InvalidWebhookError,
    )
  })
})
