/** Payloads that cannot be read: a server's mistake in one of them takes no home away. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, memoryCheckpoint } from '../../src/index.ts'
import type { Batch, FeedEvent } from '../../src/index.ts'
import { eventOf, ownReadsOver, pagesOver } from '../support/small-feed.ts'

const home = JSON.stringify({ agent_ref: 'P1', published: true, address: { town: 'Tŷ-croes – £' } })
const odd: Readonly<Record<string, unknown>> = {
  null: null,
  'no text': 7,
  'an empty text': '',
  'the JSON of null': 'null',
  'a list': '[]',
  'JSON that was encoded twice': JSON.stringify(home),
  'JSON that was cut off': home.slice(0, -9),
  words: 'Tŷ Gwyn',
}

const servers = {
  'a service with its own reads': (events: () => readonly FeedEvent[]) =>
    ownReadsOver(() => ({ tenantId: 't', epoch: 'e', events: events() })),
  'a server of the contract alone': (events: () => readonly FeedEvent[]) => pagesOver(events),
}

for (const [name, serve] of Object.entries(servers)) {
  describe(`a payload that cannot be read, of ${name}`, () => {
    for (const [form, payload] of Object.entries(odd)) {
      it(`(${form}) leaves its home as it was, also when all is read again, until a later one comes (P1)`, async () => {
        const isNamed = typeof payload === 'string' && payload.includes('agent_ref')
        const transactionId = isNamed ? 'x' : 'p1'
        // What a server sends may be of any type.
        const update = {
          ...eventOf(3, 'p1'),
          eventTypeShortCode: 'PropertyUpdated',
          transactionId,
          payload,
        } as FeedEvent
        const feed: FeedEvent[] = [{ ...eventOf(1, 'p1'), payload: home }, eventOf(2, 'p2'), update]
        const rows = new Map<string, number>()
        const told: [string, number, readonly string[]][] = []
        const sync = (checkpoint = memoryCheckpoint()) =>
          createClient({
            baseUrl: 'http://feed.example',
            key: 'k',
            fetch: serve(() => feed),
            sleep: async () => undefined,
          }).sync({
            checkpoint,
            copy: {
              count: () => rows.size,
              countOf: (ids) => ids.filter((id) => rows.has(id)).length,
              subjects: () => [...rows.keys()],
            },
            onOdd: ({ subjectId, sequenceNumber, quirks }) =>
              told.push([subjectId, sequenceNumber, quirks.map(({ code }) => code)]),
            apply({ changes }: Batch) {
              for (const { kind, subjectId, sequenceNumber } of changes) {
                if (kind === 'remove') rows.delete(subjectId)
                else rows.set(subjectId, sequenceNumber)
              }
            },
          })
        rows.set('p1', 1)
        const checkpoint = memoryCheckpoint()
        await sync(checkpoint)
        assert.deepEqual(
          [...rows],
          [
            ['p1', 1],
            ['p2', 2],
          ],
        )
        assert.deepEqual(told, [
          ['p1', 3, isNamed ? ['not_an_object'] : ['not_an_object', 'subject_from_transaction']],
        ])
        await sync()
        assert.deepEqual(
          [...rows],
          [
            ['p1', 1],
            ['p2', 2],
          ],
        )
        feed.push(eventOf(4, 'p1'))
        await sync(checkpoint)
        assert.equal(rows.get('p1'), 4)
        // With nothing in it, a removal is one: some services empty its payload.
        feed.push({ ...eventOf(5, 'p1', { published: false }), payload: '' })
        await sync(checkpoint)
        assert.deepEqual([...rows.keys()], ['p2'])
        // Also of a service whose short codes are other ones.
        feed.push({ ...eventOf(6, 'p2', { published: false }), payload: '', eventTypeShortCode: 'Gone' })
        await sync(checkpoint)
        assert.deepEqual([...rows.keys()], [])
      })
    }
  })
}
