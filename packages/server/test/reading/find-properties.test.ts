/** Searching properties without an index: what is found, in which order, and how much one call may do. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findProperties, searchText } from '../../src/reading/search/find-properties.ts'
import type { FoundProperties, PropertySearch } from '../../src/reading/search/find-properties.ts'
import type { LatestEvent, NewestQuery } from '../../src/events/event-log.ts'

const key = { tenantId: 't', feed: 'property' } as const

/** A feed with so many properties, the newest first; `asked`: what was read of it. */
function feedOf(properties: number, payloadOf: (position: number) => object = () => ({})) {
  const asked: NewestQuery[] = []
  return {
    asked,
    async readNewest(query: NewestQuery): Promise<readonly LatestEvent[]> {
      asked.push(query)
      const newest = Math.min(properties, (query.before ?? Infinity) - 1)
      const count = Math.max(0, Math.min(query.limit, newest))
      return Array.from({ length: count }, (_, n) => {
        const position = newest - n
        const payload = JSON.stringify({ agent_ref: `ref ${position}`, ...payloadOf(position) })
        const event = { sequenceNumber: position, payload, eventTypeShortCode: 'PropertyUpdated', id: 'i' }
        return { position, sequenceNumber: position, live: true, json: Buffer.from(JSON.stringify(event)) }
      })
    },
  }
}

const still = () => 0

async function allOf(feed: ReturnType<typeof feedOf>, asked: Omit<PropertySearch, 'key' | 'before'>) {
  const answers: FoundProperties[] = []
  for (let before: number | undefined; ;) {
    const answer = await findProperties(feed, { key, before, ...asked }, still)
    answers.push(answer)
    before = answer.next
    if (before === undefined) return answers
  }
}

describe('a search of properties', () => {
  it('finds each once, the newest first, with any limit, and says when there are no more (PROTOCOL §12.5)', async () => {
    for (const count of [0, 1, 4, 5, 250]) {
      for (const limit of [1, 4, 200]) {
        const answers = await allOf(feedOf(count), { text: undefined, limit })
        const found = answers.flatMap((answer) => answer.found.map(({ sequenceNumber }) => sequenceNumber))
        assert.deepEqual(
          found,
          Array.from({ length: count }, (_, n) => count - n),
        )
        assert.equal(
          answers.reduce((sum, { searched }) => sum + searched, 0),
          count,
        )
      }
    }
  })

  it('compares address, postcode and references without regard to case, blanks and punctuation (PROTOCOL §12.5)', async () => {
    const payload = {
      address: {
        house_name_number: '12',
        address_2: "St. Mary's Lane",
        town: 'Ely',
        postcode_1: 'CB7',
        postcode_2: '4AA',
        display_address: 'Tŷ Gwyn – by the river, Ely',
      },
      reference: 4711,
      service_reference: 'HC-0012',
      details: { description: 'Castle' },
    }
    const feed = feedOf(3, (position) => (position === 2 ? payload : { address: null, reference: null }))
    const finds = async (search: string) => {
      const { found, searched } = await findProperties(
        feed,
        { key, text: searchText(search), before: undefined, limit: 9 },
        still,
      )
      assert.equal(searched, 3)
      return found.length
    }
    for (const search of [
      'cb74aa',
      'CB7 4',
      ' st marys LANE,ely',
      '12 St. Mary',
      'the river ely cb7',
      '4711',
      'hc0012',
      '１２',
      'ty gwyn',
      'TŶ GWYN',
      'Ty\u0302 gŵyn',
      'gwyn by the river',
    ])
      assert.equal(await finds(search), 1, search)
    for (const search of ['castle', 'cb74ab', 'marys ely lane', 'PropertyUpdated', 'refer'])
      assert.equal(await finds(search), 0, search)
    const { found } = await findProperties(feed, { key, text: undefined, before: undefined, limit: 9 }, still)
    assert.deepEqual(
      found.map(({ address, postcode, reference, serviceReference }) => [
        address,
        postcode,
        reference,
        serviceReference,
      ]),
      [
        [null, null, null, null],
        ['Tŷ Gwyn – by the river, Ely', 'CB7 4AA', '4711', 'HC-0012'],
        [null, null, null, null],
      ],
    )
    assert.deepEqual(searchText(' ,-'), '')
  })

  it('ends at a number of properties and at a time, and continues from there (PROTOCOL §12.5)', async () => {
    const feed = feedOf(1_000, (position) => (position === 1 ? { reference: 'last' } : {}))
    const asked = { key, text: 'last', before: undefined, limit: 5 }
    const first = await findProperties(feed, asked, still, { properties: 300, ms: 1 })
    assert.deepEqual(first, { found: [], next: 701, searched: 300 })
    let nowMs = 0
    const slow = await findProperties(feed, asked, () => (nowMs += 100), { properties: 1_000, ms: 250 })
    assert.ok(slow.searched > 0 && slow.searched < 300 && slow.next === 1_001 - slow.searched)
    const rest = await findProperties(feed, { ...asked, before: first.next }, still, {
      properties: 900,
      ms: 1,
    })
    assert.equal(rest.found[0]?.reference, 'last')
    assert.deepEqual({ next: rest.next, searched: rest.searched }, { next: undefined, searched: 700 })
  })

  it('reads few at a time if they are long, and gives others their turn in between (P5)', async () => {
    const long = feedOf(12, () => ({ details: { description: 'x'.repeat(300_000) } }))
    let turns = 0
    const turn = () => {
      turns += 1
      waiting = setImmediate(turn)
    }
    let waiting = setImmediate(turn)
    await findProperties(long, { key, text: 'no', before: undefined, limit: 5 }, still)
    clearImmediate(waiting)
    assert.ok(long.asked.slice(1).every(({ limit }) => limit === 1))
    assert.ok(turns >= long.asked.length - 1)
  })
})
