/** `types`: events of some short codes alone, on runs, long-polls and streams (PROTOCOL §13.4). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import { openStream } from '../support/event-stream.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { askAndWait } from '../support/waiting-requests.ts'

interface Run {
  readonly items: readonly { readonly sequenceNumber: number; readonly eventTypeShortCode: string }[]
  readonly next: number
  readonly head: number
}

const codesOf = ({ items }: Pick<Run, 'items'>) => items.map(({ eventTypeShortCode }) => eventTypeShortCode)

onEngines('events of some types', { limits: { markEveryMs: 200 } }, (service) => {
  const path = '/v1/property-events'
  const ask = (query: string, at = path) =>
    call(service(), `${at}?${query}`, { key: service().tenant.readKey })
  const run = async (query: string, at = path): Promise<Run> => {
    const answer = await ask(query, at)
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text)
  }
  /** Asks, and resolves once the service waits. */
  const begin = (query: string) => askAndWait(service(), 'long_poll', () => ask(query))
  const headNow = async (at = path) => (await run('after=0&limit=1', at)).head

  /** Published, updated twice, and removed. */
  async function life(): Promise<void> {
    const home = property()
    for (const price of [1, 2, 3])
      await publish(service(), { payload: { ...home, price_information: { price } } })
    await publish(service(), { remove: { agentRef: home['agent_ref'] } })
  }

  it('are the requested ones and removals, and the run moves past the others (PROTOCOL §13)', async () => {
    const after = await headNow()
    await life()
    const published = await run(`after=${after}&types=PropertyPublished`)
    assert.deepEqual(codesOf(published), ['PropertyPublished', 'PropertyUnpublished'])
    assert.equal(published.next, published.head)
    const both = await run(`after=${after}&types=PropertyUpdated,PropertyPublished,PropertyUpdated`)
    assert.equal(both.items.length, 4)
    const removed = await run(`after=${after}&types=PropertyUnpublished`)
    assert.deepEqual(codesOf(removed), ['PropertyUnpublished'])
    const [first] = removed.items
    const none = await run(`after=${first?.sequenceNumber}&types=PropertyUnpublished`)
    assert.deepEqual([none.items, none.next], [[], none.head])
  })

  it('come in runs of their limit, which leave out none (PROTOCOL §13, P2)', async () => {
    const from = await headNow()
    for (let n = 0; n < 4; n += 1) await life()
    const seen: number[] = []
    let after = from
    for (;;) {
      const { items, next, head } = await run(`after=${after}&types=PropertyPublished&limit=1`)
      seen.push(...items.map(({ sequenceNumber }) => sequenceNumber))
      after = next
      if (next === head) break
    }
    const all = await run(`after=${from}`)
    const expected = all.items.filter(({ eventTypeShortCode }) => eventTypeShortCode !== 'PropertyUpdated')
    assert.deepEqual(
      seen,
      expected.map(({ sequenceNumber }) => sequenceNumber),
    )
  })

  it('are searched for in a limited number of bytes per run, and the next run continues there (PROTOCOL §11, PROTOCOL §13)', async () => {
    const from = await headNow()
    const home = property()
    const description = 'x'.repeat(200_000)
    for (let n = 0; n < 6; n += 1) {
      const payloads = Array.from({ length: 10 }, (_, index) => ({
        payload: { ...home, details: { description: `${description}${n}.${index}` } },
      }))
      await publish(service(), payloads)
    }
    const first = await run(`after=${from}&types=PropertyUnpublished`)
    assert.deepEqual(first.items, [])
    assert.ok(first.next > from && first.next < first.head, `${first.next} of ${first.head}`)
    const second = await run(`after=${first.next}&types=PropertyUnpublished`)
    assert.deepEqual([second.items, second.next], [[], first.head])
    // A long-poll looks on by itself, and then waits.
    const { answer } = await begin(`after=${from}&types=PropertyUnpublished&wait=30`)
    await publish(service(), { remove: { agentRef: home['agent_ref'] } })
    const told: Run = JSON.parse((await answer).text)
    assert.deepEqual([codesOf(told), told.next], [['PropertyUnpublished'], first.head + 1])
    const reader = await openStream(service(), `${path}/stream?after=${from}&types=PropertyUnpublished`, {
      key: service().tenant.readKey,
    })
    await reader.until(({ numbers }) => numbers().length === 1, 'the removal')
    reader.close()
  })

  it('are what a long-poll waits for, and not the others (PROTOCOL §13)', async () => {
    const after = await headNow()
    const home = property()
    await publish(service(), { payload: home })
    const asked = await headNow()
    const { answer, isAnswered } = await begin(`after=${asked}&types=PropertyPublished&wait=30`)
    await publish(service(), { payload: { ...home, price_information: { price: 7 } } })
    await delay(50)
    assert.equal(isAnswered(), false)
    await publish(service(), { payload: property() })
    const told: Run = JSON.parse((await answer).text)
    assert.deepEqual(codesOf(told), ['PropertyPublished'])
    assert.equal(told.next, after + 3)
  })

  it('are all that a stream sends, and its marks move past the others (PROTOCOL §13, L1)', async () => {
    const key = service().tenant.readKey
    const reader = await openStream(service(), `${path}/stream?after=head&types=PropertyPublished`, { key })
    const from = await headNow()
    const home = property()
    await publish(service(), { payload: home })
    await publish(service(), { payload: { ...home, price_information: { price: 8 } } })
    await reader.until(
      ({ lastId }) => lastId?.endsWith(`.${from + 2}`) === true,
      'a mark after the update that it leaves out',
    )
    assert.deepEqual(reader.numbers(), [from + 1])
    reader.close()
    const again = await openStream(service(), `${path}/stream?after=0&types=PropertyUpdated`, {
      key,
      headers: { 'last-event-id': reader.lastId ?? '' },
    })
    await publish(service(), { payload: property() })
    await publish(service(), { remove: { agentRef: home['agent_ref'] } })
    await again.until(({ numbers }) => numbers().length === 1, 'the removal')
    assert.deepEqual(again.numbers(), [from + 4])
    again.close()
  })

  it('are distinguished on the contact feed as well (PROTOCOL §13)', async () => {
    const at = '/v1/contact-events'
    const person = contact()
    await publish(service(), { payload: person }, { feed: 'contact' })
    await publish(service(), { payload: { ...person, phone: '020 7946 0018' } }, { feed: 'contact' })
    assert.deepEqual(codesOf(await run('after=0&types=ContactUpdated', at)), ['ContactUpdated'])
    assert.equal(problemOf(await ask('after=0&types=PropertyUpdated', at)).code, 'invalid_parameter')
  })

  it('are refused by names that the feed does not have, with the one that was probably meant (D19)', async () => {
    for (const [types, words] of [
      ['PropertyPublishd', /Did you mean PropertyPublished\?/],
      ['', /Allowed: PropertyPublished, PropertyUnpublished, PropertyUpdated/],
      ['PropertyPublished,', /not a short code/],
      ['propertyupdated', /Did you mean PropertyUpdated\?/],
    ] as const) {
      for (const at of [`${path}?after=0`, `${path}/stream?after=0`]) {
        const answer = await call(service(), `${at}&types=${types}`, { key: service().tenant.readKey })
        assert.equal(answer.status, 400, answer.text)
        const [fault] = problemOf(answer).errors ?? []
        assert.equal(fault?.parameter, 'types')
        assert.match(fault?.message ?? '', words)
      }
    }
    const twice = await ask('after=0&types=PropertyUpdated&types=PropertyPublished')
    assert.equal(problemOf(twice).errors?.[0]?.code, 'repeated')
    const snapshot = await ask('types=PropertyUpdated', `${path}/snapshot`)
    assert.equal(problemOf(snapshot).errors?.[0]?.code, 'unknown_parameter')
  })
})

const ownCodes = {
  ...catalogues.default,
  property: { ...catalogues.default.property, PropertyWithdrawn: 3, PropertyReduced: 4 },
}

onEngines('events of types of a catalogue of one’s own', { catalogue: ownCodes }, (service) => {
  it('pass if they remove, by their payload (PROTOCOL §13, D12)', async () => {
    const home = property()
    const send = (eventType: string, published: boolean) =>
      publish(service(), { payload: { ...home, published }, eventType })
    await publish(service(), { payload: home })
    await send('PropertyReduced', true)
    await send('PropertyWithdrawn', false)
    const answer = await call(service(), '/v1/property-events?after=0&types=PropertyPublished', {
      key: service().tenant.readKey,
    })
    assert.deepEqual(codesOf(JSON.parse(answer.text) as Run), ['PropertyPublished', 'PropertyWithdrawn'])
  })
})
