import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { draft, removal, uuid } from '../support/drafts.ts'
import { codes, list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

export function removingContract(factory: StoreFactory): void {
  describe('removing', () => {
    it('keeps every byte of the last payload but `published` and the reason (D26, D22)', async () => {
      await using store = await withTenants(await factory.create())
      const text = `{"agent_ref":"${uuid('p')}","price":250000.00,"published":true,"note":"a  \\u00e9 b"}`
      const sent = draft({ subject: 'p' })
      await publish(store, [{ ...sent, content: { ...sent.content, kind: 'payload', ...payload(text) } }])
      await publish(store, [removal({ subject: 'p' }, 'sold elsewhere')])
      const [, removed] = await list(store)
      assert.equal(
        removed?.payload,
        text
          .replace('"published":true', '"published":false')
          .replace(/}$/, ',"removal_reason":"sold elsewhere"}'),
      )
      assert.equal(removed.eventTypeShortCode, 'PropertyUnpublished')
    })

    it('removes in the category and branch the subject has, without a derived event (D26, D23)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'p', category: 'lettings', branch: 'north' })])
      const lines = await publish(store, [removal({ subject: 'p' })])
      assert.equal(lines.length, 1)
      assert.deepEqual(codes(await list(store, { view: 'lettings' })), [
        'PropertyPublished',
        'PropertyUnpublished',
      ])
    })

    it('removes a subject of the same batch, and lets it come back (D26, D12)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [
        draft({ subject: 'p', text: 'a' }),
        removal({ subject: 'p' }),
        draft({ subject: 'p' }),
      ])
      const events = await list(store)
      assert.deepEqual(codes(events), ['PropertyPublished', 'PropertyUnpublished', 'PropertyPublished'])
      assert.deepEqual(JSON.parse(events[1]?.payload ?? ''), {
        agent_ref: uuid('p'),
        published: false,
        text: 'a',
      })
    })
  })
}

function payload(text: string) {
  const hashes = { hash: new Uint8Array(32), updateDateHash: null }
  const unsaid = { branch: undefined, impliedCategory: undefined, priceLooksLike: undefined }
  return { text, ...hashes, ...unsaid, published: true }
}
