/** Following through a real HAProxy, set up as the documents say: streams and requests that wait pass as they come. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { blocksIn, textOf } from '../../../cli/test/support/documents.ts'
import { openStream } from '../../../server/test/support/event-stream.ts'
import { haproxyFile, needsHaproxy, startHaproxy } from '../../../server/test/support/haproxy.ts'
import type { Haproxy } from '../../../server/test/support/haproxy.ts'
import { call, publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import { clientOf, numbersOf, watched } from '../support/live.ts'

const path = '/v1/property-events'

it('the excerpt in the document is part of the file for HAProxy', () => {
  const document = 'docs/operating/nodes-and-proxy.md'
  const blocks = blocksIn(document, textOf(document)).filter(({ language }) => language === 'haproxy')
  assert.equal(blocks.length, 1)
  const file = readFileSync(haproxyFile, 'utf8')
  for (const { text } of blocks) assert.ok(file.includes(text.trimEnd()), text)
})

describe('through HAProxy', { skip: needsHaproxy }, () => {
  let service: TestService
  let proxy: Haproxy
  before(async () => {
    service = await startTestService({ trustedProxies: 1 })
    proxy = await startHaproxy(service)
  })
  after(async () => {
    await proxy.stop()
    await service.stop()
  })

  for (const transport of ['stream', 'wait'] as const) {
    it(`events come by ${transport}, each once, in order and as soon as they are published (L1, PROTOCOL §13)`, async (context) => {
      const { fetch, seen } = watched()
      const numbers: number[] = []
      const ended = new AbortController()
      context.after(() => ended.abort())
      let isWaiting = false
      const url = `http://127.0.0.1:${proxy.port}`
      const follower = clientOf({ ...service, url }, { fetch }).follow({
        after: 0,
        transport,
        signal: ended.signal,
        onMark: () => void (isWaiting = true),
      })
      const reading = (async () => {
        for await (const { sequenceNumber } of follower) numbers.push(sequenceNumber)
      })()
      await until(() => isWaiting, { what: 'the first mark' })
      for (let round = 0; round < 5; round += 1) {
        const { events } = await publish(service, [{ payload: property() }])
        // Each comes by itself: what a proxy held back would come with the next one at the earliest.
        await until(() => (numbers.at(-1) ?? 0) >= (events[0]?.sequenceNumber ?? 0), {
          what: `event ${round}`,
        })
      }
      const { items } = await clientOf(service).after({ after: 0 })
      await until(() => numbers.length >= items.length)
      ended.abort()
      await reading
      assert.deepEqual(numbers.slice(0, items.length), numbersOf(items))
      const part = transport === 'stream' ? '/stream' : 'wait='
      assert.ok(seen.some(({ path }) => path.includes(part)))
    })
  }

  it('a reader that has gone holds no place, and one that comes back continues after its last id (L3, L1)', async () => {
    const crowded = await startTestService({ limits: { waitingPerKey: 1 }, trustedProxies: 1 })
    const before = await startHaproxy(crowded)
    try {
      const key = crowded.tenant.readKey
      const reader = await openStream(before, `${path}/stream?after=head`, { key })
      await publish(crowded, { payload: property() })
      await reader.until(({ numbers }) => numbers().length === 1, 'an event')
      reader.close()
      await publish(crowded, { payload: property() })
      let again = await openStream(before, `${path}/stream`, {
        key,
        headers: { 'last-event-id': reader.lastId ?? '' },
      })
      await until(
        async () => {
          if (again.status === 200) return true
          again = await openStream(before, `${path}/stream`, {
            key,
            headers: { 'last-event-id': reader.lastId ?? '' },
          })
          return again.status === 200
        },
        { what: 'a free place', everyMs: 50 },
      )
      await again.until(({ numbers }) => numbers().length === 1, 'the event that it missed')
      assert.equal(again.numbers()[0], (reader.numbers()[0] ?? 0) + 1)
      again.close()
    } finally {
      await before.stop()
      await crowded.stop()
    }
  })

  it(
    'neither a long-poll of 30 s nor a stream that is silent for longer is ended (PROTOCOL §13)',
    { skip: isLongRun ? false : 'takes a minute: in test:long' },
    async () => {
      const key = service.tenant.readKey
      const reader = await openStream(proxy, `${path}/stream?after=head`, { key })
      const { items }: { items: readonly { sequenceNumber: number }[] } = JSON.parse(
        (await call(service, `${path}?after=0`, { key })).text,
      )
      const head = items.at(-1)?.sequenceNumber ?? 0
      const answer = await call(proxy, `${path}?after=${head}&wait=30`, { key })
      assert.equal(answer.status, 200)
      await delay(15_000)
      assert.equal(reader.hasEnded, false)
      assert.ok(reader.messages.filter(({ event }) => event === 'mark').length >= 3)
      reader.close()
    },
  )
})
