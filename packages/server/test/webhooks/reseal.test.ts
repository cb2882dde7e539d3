/** A pepper that goes leaves no secret of a webhook behind (PROTOCOL §16, docs/decisions/0014). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { resealSecrets } from '../../src/webhooks/reseal.ts'
import { newSecret, openSecret, sealSecret } from '../../src/webhooks/secret.ts'
import { uuid } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { newEndpoint, secretNamed, stored } from '../store/support/webhooks.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const [fresh, old] = ['new', 'old'].map((pepperId) => ({
  pepperId,
  secret: new Uint8Array(32).fill(pepperId.length + pepperId.charCodeAt(0)),
  isOld: pepperId === 'old',
}))

describe('secrets of webhooks', () => {
  it('are sealed with the new pepper as long as theirs is known, and counted if it is not (PROTOCOL §16)', async () => {
    assert.ok(fresh && old)
    await using store = await withTenants(await temporaryStore())
    const { webhooks } = store
    const endpoint = newEndpoint()
    const { endpointId } = endpoint
    const secret = newSecret()
    const sealed = sealSecret(old, endpointId, secret)
    const given = { ...endpoint, secret: secretNamed('old', { sealed, pepperId: old.pepperId }) }
    assert.equal(await webhooks.create(given, 'cli:test'), 'created')
    assert.equal(await resealSecrets(webhooks, [fresh], fresh), 1)
    assert.equal((await stored(store, endpointId)).secrets[0]?.pepperId, 'old')
    assert.equal(await resealSecrets(webhooks, [fresh, old], fresh), 0)
    const [resealed] = (await stored(store, endpointId)).secrets
    assert.ok(resealed?.pepperId === 'new')
    assert.equal(openSecret(fresh, endpointId, resealed.sealed), secret)
    assert.equal(await resealSecrets(webhooks, [fresh], fresh), 0)
  })

  it('are all sealed anew, however many (PROTOCOL §16)', async () => {
    assert.ok(fresh && old)
    const given = Array.from({ length: 10_002 }, (_, index) => {
      const secretId = uuid(String(index))
      return { ...secretNamed('any'), secretId, endpointId: randomUUID(), pepperId: old.pepperId }
    }).toSorted((one, other) => (one.secretId < other.secretId ? -1 : 1))
    const last = given.at(-1)
    assert.ok(last)
    const sealed = sealSecret(old, last.endpointId, newSecret())
    const all = [...given.slice(0, -1), { ...last, sealed }]
    const resealed: string[] = []
    const webhooks = {
      secrets: async (after: string, limit: number) =>
        all.filter(({ secretId }) => secretId > after).slice(0, limit),
      reseal: async (secretId: string) => void resealed.push(secretId),
    }
    assert.equal(await resealSecrets(webhooks, [fresh, old], fresh), 10_001)
    assert.deepEqual(resealed, [last.secretId])
  })
})
