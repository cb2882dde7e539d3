/** What an erasure costs a copy of the latest: what one changed contact costs, however large the copy is (D17, PROTOCOL §11.2). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { eraseAll } from '../../../server/test/support/canary.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { contact } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import { createClient, memoryCheckpoint } from '../../src/index.ts'

describe('an erasure', () => {
  it('costs a copy of the latest as much as one changed contact, and no event is read again (D17, PROTOCOL §11.2)', async () => {
    const service = await startTestService()
    try {
      const { tenant, url } = service
      const refs = Array.from({ length: 2_000 }, () => randomUUID())
      const [gone = '', changed = ''] = refs
      for (let from = 0; from < refs.length; from += 500) {
        const events = refs.slice(from, from + 500).map((ref) => ({ payload: contact({ contact_ref: ref }) }))
        await publish(service, events, { feed: 'contact' })
      }
      for (const version of [1, 2]) {
        await publish(service, [{ payload: contact({ contact_ref: gone, version }) }], { feed: 'contact' })
      }
      const cost = { requests: 0, bytes: 0 }
      const counted: typeof fetch = async (input, init) => {
        const answer = await fetch(input, init)
        const body = await answer.arrayBuffer()
        cost.requests += 1
        cost.bytes += body.byteLength
        const { status, headers } = answer
        return new Response([204, 304].includes(status) ? null : body, { status, headers })
      }
      const held = new Set<string>()
      const checkpoint = memoryCheckpoint()
      const resyncs: string[] = []
      const client = createClient({ baseUrl: url, key: tenant.readKey, feed: 'contact', fetch: counted })
      const costOfSync = async () => {
        Object.assign(cost, { requests: 0, bytes: 0 })
        const { events } = await client.sync({
          checkpoint,
          onResync: (reason) => void resyncs.push(reason),
          apply: ({ changes }) => {
            for (const { kind, subjectId } of changes) {
              if (kind === 'remove') held.delete(subjectId)
              else held.add(subjectId)
            }
          },
        })
        return { ...cost, events }
      }
      await costOfSync()
      assert.equal(held.size, refs.length)
      await publish(service, [{ payload: contact({ contact_ref: changed, version: 2 }) }], {
        feed: 'contact',
      })
      const ofChange = await costOfSync()
      await eraseAll(service, [{ feed: 'contact', subjectId: gone }])
      const ofErasure = await costOfSync()
      assert.deepEqual([held.size, held.has(gone), resyncs], [refs.length - 1, false, []])
      assert.equal(ofErasure.events, 1)
      assert.equal(ofErasure.requests, ofChange.requests)
      assert.ok(
        ofErasure.bytes <= ofChange.bytes + 50,
        `${ofErasure.bytes} bytes, and ${ofChange.bytes} for a change`,
      )
    } finally {
      await service.stop()
    }
  })
})
