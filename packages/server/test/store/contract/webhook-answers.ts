import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { FeedName } from '@property-events/protocol'
import type { ErasureTarget } from '../../../src/privacy/erasure/erasure.ts'
import { batch, draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { begin, reduceAll, subject } from '../support/erasing.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { leaseMs, progressOf, withEndpoint } from '../support/webhooks.ts'

const answer = 'Dim lle i Tŷ Gwyn – £450,000 🏡'
const targets: readonly (readonly [string, FeedName, ErasureTarget])[] = [
  ['a property', 'property', subject('house')],
  ['a contact', 'contact', subject('house')],
  ['one event', 'property', { kind: 'event', eventId: uuid('an event') }],
]

export function webhookAnswersContract(factory: StoreFactory): void {
  describe('answers of receivers', () => {
    for (const [what, feed, target] of targets) {
      it(`go with the erasure of ${what}, late ones too, and what was tried stays (D17)`, async () => {
        await using store = await withTenants(await factory.create())
        const { webhooks } = store
        const key = feedKey(tenantA, feed)
        const published = [draft({ subject: 'house', id: 'an event' }), draft({ subject: 'garden' })]
        await store.events.append([batch(published, { key })])
        await store.events.append([batch([draft({ subject: 'house', text: 'later' })], { key })])
        const own = await withEndpoint(store, { settings: { feed } })
        await withEndpoint(store, { tenantId: tenantB, settings: { feed } })
        await withEndpoint(store, { settings: { feed: feed === 'property' ? 'contact' : 'property' } })
        const leases = await webhooks.claim(randomUUID(), 10, leaseMs)
        const deliveries = ['house', 'garden', 'house'].map((name, index) => ({
          event: { subjectId: uuid(name), sequenceNumber: index + 1 },
          outcome: 'refused' as const,
          answer,
        }))
        await webhooks.save(leases.map((lease) => progressOf(lease, { deliveries })))
        const answersOf = async (endpointId: string) => {
          const rows = await webhooks.deliveries({ endpointId, before: undefined, limit: 9 })
          return rows.map((row) => row.answer).toReversed()
        }
        const { erasureId } = await begin(store, target, { key })
        assert.deepEqual(await answersOf(own.endpointId), [undefined, answer, undefined])
        // Tries that were under way: the node has not said yet that it has forgotten what it read.
        const late = leases.map((lease) => progressOf(lease, { deliveries: deliveries.slice(0, 1) }))
        assert.deepEqual(await webhooks.save(late), [])
        await reduceAll(store, erasureId)
        assert.equal(await store.erasures.acknowledge(erasureId, undefined), 'unreachable')
        for (const { endpoint } of leases) {
          const isOwn = endpoint.endpointId === own.endpointId
          const expected = isOwn ? [undefined, answer, undefined, undefined] : Array(4).fill(answer)
          assert.deepEqual(await answersOf(endpoint.endpointId), expected)
        }
      })
    }
  })
}
