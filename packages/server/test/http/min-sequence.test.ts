import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { defaultLimits } from '../../src/index.ts'
import { call, getPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('a read that says which number it must see', {}, (service) => {
  const get = (path: string, minSequence: string) =>
    call(service(), path, { key: service().tenant.readKey, headers: { 'x-feed-min-sequence': minSequence } })

  it('is answered at once when the feed has it, on every read of a feed (P8)', async () => {
    const { events } = await publish(service(), { payload: property() })
    const [event] = events
    const number = String(event?.sequenceNumber)
    const { readKey: keyOfEmptyFeed } = service().otherTenant
    const everyFeed = { key: keyOfEmptyFeed, headers: { 'x-feed-min-sequence': '0' } }
    assert.equal((await call(service(), listPath, everyFeed)).status, 200)
    for (const path of [listPath, `${getPath}/${event?.id}`, '/v1/property-events?after=0']) {
      assert.equal((await get(path, number)).status, 200, path)
    }
  })

  it('waits for a publish that is still to come, and shows it (P8)', async () => {
    const before = await get(`${listPath}?pageSize=1`, '0')
    const next = Number(before.headers['x-feed-head']) + 1
    const waiting = get(`${listPath}?pageSize=1000`, String(next))
    let answered = false
    void waiting.then(() => (answered = true))
    await delay(100)
    assert.equal(answered, false)
    await publish(service(), { payload: property() })
    const answer = await waiting
    assert.equal(answer.status, 200)
    assert.equal(pageOf(answer).items.at(-1)?.sequenceNumber, next)
  })

  it('is refused if the value is not a number (P11)', async () => {
    for (const text of ['-1', '1.0', '1e3', '01', 'x', '9007199254740993', '']) {
      const answer = await get(listPath, text)
      assert.equal(answer.status, 400, text)
      assert.equal(problemOf(answer).errors?.[0]?.parameter, 'x-feed-min-sequence')
    }
  })
})

const limits = { minSequenceWaitMs: 300 }

onEngines('a read whose number does not come', { limits }, (service) => {
  it('has to ask again when its time is over (P8, PROTOCOL §7)', async () => {
    const headers = { 'x-feed-min-sequence': '9007199254740991' }
    const startedMs = performance.now()
    const answer = await call(service(), listPath, { key: service().tenant.readKey, headers })
    assert.equal(answer.status, 503)
    assert.equal(problemOf(answer).code, 'sequence_not_reached')
    assert.equal(answer.headers['retry-after'], '1')
    assert.ok(performance.now() - startedMs >= limits.minSequenceWaitMs)
  })
})

describe('the service as the program starts it', () => {
  it('waits 5 seconds for a number, as its documents say (PROTOCOL §7)', () => {
    assert.equal(defaultLimits.minSequenceWaitMs, 5_000)
  })
})
