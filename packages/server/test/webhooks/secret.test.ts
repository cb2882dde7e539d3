/** Signatures against a foreign library for receivers, and secrets that a copy of the store does not give away. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { newSecret, openSecret, sealSecret, signature } from '../../src/webhooks/secret.ts'

const body = Buffer.from(JSON.stringify({ type: 'event', data: { caption: 'Tŷ â gardd – £450,000 🏡' } }))
const pepperOf = (fill: number) => ({ pepperId: 'p', secret: Buffer.alloc(32, fill), isOld: false })

function headersOf(secrets: readonly string[], seconds = Math.floor(Date.now() / 1_000)) {
  const id = 'msg_0192f0d0_42'
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature(secrets, { id, seconds, body }),
  }
}

describe('a signature', () => {
  it('is verified by a library of Standard Webhooks, 100 of 100', () => {
    for (let count = 0; count < 100; count += 1) {
      const secret = newSecret()
      assert.deepEqual(new Webhook(secret).verify(body, headersOf([secret])), JSON.parse(body.toString()))
    }
  })

  it('is the one that such a library makes, 100 of 100', () => {
    for (let count = 0; count < 100; count += 1) {
      const secret = newSecret()
      const at = new Date(Math.floor(Date.now() / 1_000) * 1_000 - count * 1_000)
      const made = new Webhook(secret).sign('msg_1', at, body.toString())
      assert.equal(signature([secret], { id: 'msg_1', seconds: at.getTime() / 1_000, body }), made)
    }
  })

  it('is verified with either secret while one replaces the other, and with no third', () => {
    const [before, after, other] = [newSecret(), newSecret(), newSecret()]
    const headers = headersOf([before, after])
    for (const secret of [before, after]) new Webhook(secret).verify(body, headers)
    assert.throws(() => new Webhook(other).verify(body, headers))
  })

  it('does not hold for another body, id or time', () => {
    const secret = newSecret()
    const receiver = new Webhook(secret)
    const headers = headersOf([secret])
    assert.throws(() => receiver.verify(Buffer.from(`${body.toString()} `), headers))
    assert.throws(() => receiver.verify(body, { ...headers, 'webhook-id': 'msg_0192f0d0_43' }))
    const later = String(Number(headers['webhook-timestamp']) + 1)
    assert.throws(() => receiver.verify(body, { ...headers, 'webhook-timestamp': later }))
    assert.throws(() => receiver.verify(body, headersOf([secret], Math.floor(Date.now() / 1_000) - 360)))
  })
})

describe('a sealed secret', () => {
  it('is opened with its pepper for its endpoint alone', () => {
    const secret = newSecret()
    const sealed = sealSecret(pepperOf(1), 'endpoint', secret)
    assert.equal(openSecret(pepperOf(1), 'endpoint', sealed), secret)
    assert.equal(openSecret(pepperOf(2), 'endpoint', sealed), undefined)
    assert.equal(openSecret(pepperOf(1), 'another', sealed), undefined)
    assert.ok(!Buffer.from(sealed).includes(secret.slice('whsec_'.length)))
  })

  it('is not opened when a byte of it has changed, or it is cut', () => {
    const sealed = sealSecret(pepperOf(1), 'endpoint', newSecret())
    for (const at of sealed.keys()) {
      const damaged = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte))
      assert.equal(openSecret(pepperOf(1), 'endpoint', damaged), undefined)
      assert.equal(openSecret(pepperOf(1), 'endpoint', sealed.slice(0, at)), undefined)
    }
    assert.equal(openSecret(pepperOf(1), 'endpoint', randomBytes(80)), undefined)
  })
})
