/** Endpoints among the consumers of a feed, and what became of a property at one (PROTOCOL §14.4, §14.6). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { Consumers, PropertyConsumers } from '@property-events/protocol/wire'
import { call, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { makeWebhook, webhookKey } from '../support/webhooks.ts'

onEngines('an endpoint among the consumers', {}, (service) => {
  it('shows a property that waits with its tries, last answer and next try, one given up, and one acknowledged (PROTOCOL §14.6)', async () => {
    const key = await webhookKey(service(), { feeds: ['property'] })
    const [waits, lost, done, late] = Array.from({ length: 4 }, () => randomUUID())
    for (const agent_ref of [waits, lost, done])
      await publish(service(), { payload: property({ agent_ref, details: { summary: 'Tŷ £ – 🏠' } }) })
    const made = await makeWebhook(service(), key, { label: 'Siop £ 🏠', after: 0 })
    await publish(service(), { payload: property({ agent_ref: late }) })
    const { webhooks } = service().storage
    const [lease] = await webhooks.claim('a', 1, 40_000)
    assert.ok(lease !== undefined)
    const atMs = Date.now()
    const nextTryMs = atMs + 1_800_000
    const event = (subjectId = '', sequenceNumber = 0) => ({ subjectId, sequenceNumber })
    const tried = {
      endpointId: made.id,
      messageId: 'msg_e_1',
      atMs,
      tookMs: 9,
      status: 503,
      answer: 'Ar gau',
    }
    const left = await webhooks.save([
      {
        endpointId: made.id,
        leaseNo: lease.leaseNo,
        writes: lease.writes,
        epoch: made.cursor.epoch,
        change: {
          settled: 3,
          failingSinceMs: undefined,
          settledTries: 0,
          rows: {
            waiting: [{ ...event(waits, 1), tries: 2, nextTryMs }],
            removed: [],
            givenUp: [event(lost, 2)],
            version: 1,
          },
        },
        acknowledged: { sequenceNumber: 3, atMs },
        deliveries: [
          { ...tried, event: event(waits, 1), outcome: 'refused' },
          { ...tried, event: event(lost, 2), outcome: 'givenUp' },
          { ...tried, event: event(done, 3), outcome: 'acknowledged', status: 204, answer: undefined },
        ],
        versions: [],
        disable: undefined,
        notice: undefined,
      },
    ])
    assert.deepEqual(left, [])
    const stateOf = async (agentRef = '') => {
      const answer = await call(service(), `/v1/properties/${agentRef}/consumers`, { key })
      assert.equal(answer.status, 200, answer.text)
      const seen: PropertyConsumers = JSON.parse(answer.text)
      const [one, ...others] = seen.consumers
      assert.deepEqual([one?.name, others], [`webhook-${made.id.slice(0, 8)}`, []])
      return one
    }
    const waiting = await stateOf(waits)
    assert.deepEqual(
      [waiting?.state, waiting?.webhook?.label, waiting?.webhook?.tries],
      ['waiting', 'Siop £ 🏠', 2],
    )
    assert.equal(waiting?.webhook?.nextTryAt, new Date(nextTryMs).toISOString())
    assert.match(
      waiting?.sentence ?? '',
      /2 tries were refused, the last .* with status 503: Ar gau\. The next try is/,
    )
    assert.equal((await stateOf(lost))?.state, 'given_up')
    assert.equal((await stateOf(done))?.state, 'acknowledged')
    assert.deepEqual((await stateOf(late))?.sentence, 'Not sent yet.')

    const { text: inspector } = await service().issue({
      grants: [{ tenantId: service().tenant.tenantId, scopes: ['tenant:inspect'] }],
    })
    const listed = await call(service(), `/v1/admin/tenants/${service().tenant.tenantId}/consumers`, {
      key: inspector,
    })
    const { items }: Consumers = JSON.parse(listed.text)
    const one = items.find(({ webhook }) => webhook?.id === made.id)
    assert.deepEqual(
      [one?.webhook?.waiting, one?.webhook?.givenUp, one?.acknowledged?.sequenceNumber],
      [1, 1, 3],
    )
    assert.deepEqual(
      one?.views.map(({ view, through, lagEvents }) => [view, through, lagEvents]),
      [['all', 3, 1]],
    )
  })
})
