/** How late waiting readers are told is measured to the last byte that they take (PROTOCOL §13, docs/metrics.md). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import { call, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'

describe('the delay of live events', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  /** How many events, or pieces of several, were told to readers of this kind. */
  async function toldTo(kind: 'stream' | 'long_poll'): Promise<number> {
    const text = await (await fetch(`${service.service.metricsUrl}`)).text()
    const line = new RegExp(`^property_events_live_delay_seconds_count\\{kind="${kind}"\\} (\\d+)$`, 'm')
    return Number(line.exec(text)?.[1] ?? 0)
  }

  it('is counted once for each waiting reader that was told, by a stream or by a long-poll (L3)', async () => {
    const { readKey: key } = service.tenant
    const reader = await openStream(service, `${path}/stream?after=head`, { key })
    await reader.until(({ messages }) => messages.length > 0, 'the first mark')
    const polls = [1, 2, 3].map(() => call(service, `${path}?after=0&wait=30`, { key }))
    const before = { stream: await toldTo('stream'), polls: await toldTo('long_poll') }
    await until(() => isWaiting(service, 3))
    await publish(service, { payload: property() })
    for (const answer of await Promise.all(polls)) assert.match(answer.text, /"sequenceNumber":1/)
    await reader.until(({ numbers }) => numbers().length === 1, 'the event')
    await until(async () => (await toldTo('long_poll')) === before.polls + 3, { what: 'three long-polls' })
    await until(async () => (await toldTo('stream')) === before.stream + 1, { what: 'one stream' })
    reader.close()
  })
})

async function isWaiting(service: TestService, polls: number): Promise<boolean> {
  const text = await (await fetch(`${service.service.metricsUrl}`)).text()
  return new RegExp(`^property_events_waiting_requests\\{kind="long_poll"\\} ${polls}$`, 'm').test(text)
}
