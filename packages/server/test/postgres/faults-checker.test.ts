/** The checker of the tests with faults, given records in which one thing is wrong: what it does not see here, it would not see there. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { violations } from './faults/check-record.ts'
import { itemsIn } from './faults/record.ts'
import type { Answer, EventInFeed, FeedRecord } from './faults/record.ts'
import { soundRecord } from './faults/sound-record.ts'

const swapped = <T>(list: readonly T[], one: number, two: number): readonly T[] =>
  list.map((item, n) => list[n === one ? two : n === two ? one : n] ?? item)

const changedEvent = (
  record: FeedRecord,
  place: number,
  change: (event: EventInFeed) => object,
): FeedRecord => ({
  ...record,
  kept: record.kept.map((bytes, n) => {
    const event = JSON.parse(bytes) as EventInFeed
    return n === place ? JSON.stringify({ ...event, ...change(event) }) : bytes
  }),
})

const changedAnswers = (
  record: FeedRecord,
  door: Answer['question']['door'],
  change: (answer: Answer) => Partial<Answer>,
): FeedRecord => ({
  ...record,
  answers: record.answers.map((answer) =>
    answer.question.door === door ? { ...answer, ...change(answer) } : answer,
  ),
})

/** What is wrong, and which promise it breaks. */
const planted: Readonly<Record<string, readonly [RegExp, (record: FeedRecord) => FeedRecord]>> = {
  'an acknowledged event that is gone': [/^P7: .* is gone/m, (r) => ({ ...r, kept: r.kept.toSpliced(-1) })],
  'a hole in the numbers': [/^P1: place 5 holds/m, (r) => ({ ...r, kept: r.kept.toSpliced(4, 1) })],
  'two numbers swapped': [
    /^P1: 1\d* began after/m,
    (r) =>
      changedEvent(
        changedEvent(r, 9, () => ({ id: idAt(r, 19) })),
        19,
        () => ({ id: idAt(r, 9) }),
      ),
  ],
  'an event stamped too early': [
    /^P3: 8 is stamped/m,
    (r) => changedEvent(r, 7, () => ({ createdDate: '2024-12-31T00:00:00.0000000' })),
  ],
  'another payload than was sent': [
    /^P7: .* another payload/m,
    (r) => changedEvent(r, 3, () => ({ payload: '{"view":"sales"}' })),
  ],
  'an id that is there twice': [/^P6: .* twice/m, (r) => changedEvent(r, 11, () => ({ id: idAt(r, 10) }))],
  'half a request that was given up': [
    /^P6: .* not there whole/m,
    (r) => ({
      ...r,
      publications: [
        ...r.publications,
        {
          ...at(r.publications, 0),
          receipt: undefined,
          events: [...at(r.publications, 29).events, { id: 'x', payload: '{}' }],
        },
      ],
    }),
  ],
  'an event that nobody has sent': [
    /^P6: nobody has sent 30/m,
    (r) => ({ ...r, publications: r.publications.toSpliced(29, 1) }),
  ],
  'a receipt with another number': [
    /^P7: .* was acknowledged as/m,
    (r) => ({
      ...r,
      publications: r.publications.map((p) => ({
        ...p,
        receipt: p.receipt?.map((line) => ({ ...line, sequenceNumber: line.sequenceNumber + 1 })),
      })),
    }),
  ],
  'one byte changed in one answer': [
    /^P9: node 1 answered by id/m,
    (r) =>
      changedAnswers(r, 'id', ({ items }) => ({ items: items.map((bytes) => bytes.replace('{', '{ ')) })),
  ],
  'an event left out by number': [
    /^P2: node 1 left out number 6/m,
    (r) => changedAnswers(r, 'number', ({ items }) => ({ items: items.toSpliced(5, 1) })),
  ],
  'events in another order': [
    /^P2: node 1 left out number 3/m,
    (r) => changedAnswers(r, 'number', ({ items }) => ({ items: swapped(items, 2, 3) })),
  ],
  'an answer that ends before its head': [
    /^P2: node 1 left out number 30/m,
    (r) => changedAnswers(r, 'number', ({ items }) => ({ items: items.slice(0, -1) })),
  ],
  'an event left out by time': [
    /^P3: node 1 left out number 20 .*[^]*^P3: reader never got 20/m,
    (r) =>
      changedAnswers(r, 'window', ({ items }) => ({ items: items.filter((bytes) => bytes !== r.kept[19]) })),
  ],
  'an event left out of a page': [
    /^P4: node 1 left out/m,
    (r) => changedAnswers(r, 'page', ({ items }) => ({ items: items.slice(1) })),
  ],
  'a count that does not fit the head': [
    /^P4: node 1 counted 14 in place of 15/m,
    (r) =>
      changedAnswers(r, 'page', ({ question }) =>
        question.door === 'page' ? { question: { ...question, available: 14 } } : {},
      ),
  ],
  'an acknowledged event that is not found by id': [
    /^P8: node 1 left out number/m,
    (r) => changedAnswers(r, 'id', () => ({ items: [] })),
  ],
  'a read below the number it had to see': [
    /^P8: node 1 answered 30 by number, asked for 31/m,
    (r) => changedAnswers(r, 'number', () => ({ minimum: 31 })),
  ],
  'a node that forgets what it has shown': [
    /^P8: node 1 answered up to 3 after it had shown 30/m,
    (r) => ({
      ...r,
      answers: [
        ...r.answers,
        {
          ...at(r.answers, 0),
          startedMs: 9_000,
          endedMs: 9_001,
          head: 3,
          question: { door: 'number', after: 3, limit: 100 },
          items: [],
        },
      ],
    }),
  ],
  'a number shown that the feed never came to': [
    /^P7: node 1 has shown the number 31/m,
    (r) => changedAnswers(r, 'page', () => ({ head: 31 })),
  ],
  'an answer nobody may get': [/^P11: 500/m, (r) => ({ ...r, refusals: ['500'] })],
}

describe('the checker of records', () => {
  it('finds nothing in a sound one', () => assert.deepEqual(violations(soundRecord()), []))

  for (const [name, [expected, plant]] of Object.entries(planted)) {
    it(`sees ${name}`, () => assert.match(violations(plant(soundRecord())).join('\n'), expected))
  }

  it('reads items exactly as they are in a body, whatever their texts contain', () => {
    const items = ['{"a":"}]\\"{","b":{"c":[1]}}', '{ "a" : "\\\\" }']
    assert.deepEqual(itemsIn(`{"items":[${items.join(',')}],"page":1}`), items)
    assert.deepEqual(itemsIn('{"items":[],"page":1}'), [])
    assert.throws(() => itemsIn('{"items":[{"a":1}'))
  })
})

function at<T>(list: readonly T[], place: number): T {
  return list[place] ?? assert.fail(`nothing at ${place}`)
}

function idAt({ kept }: FeedRecord, place: number): string {
  return (JSON.parse(at(kept, place)) as EventInFeed).id
}
