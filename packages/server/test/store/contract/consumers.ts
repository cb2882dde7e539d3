import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mostRanges, namedConsumersPerFeed, refusalPauseMs } from '../../../src/consumers/consumer.ts'
import type { ConsumerResult, ResultChange, StoredRead, NewRead } from '../../../src/consumers/consumer.ts'
import type { NumberRange } from '../../../src/runtime/number-ranges.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft, feedKey, removal, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { erase, subject } from '../support/erasing.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

const properties = feedKey(tenantA, 'property')
const part = { view: 'all', space: 'ordinals', epoch: 'e1' } as const

function noted(ranges: readonly NumberRange[], changes: Partial<NewRead> = {}): NewRead {
  return {
    key: properties,
    keyId: 'key',
    name: 'default',
    ...part,
    askedMs: 1_000,
    quietMs: undefined,
    status: 200,
    route: 'list',
    minutes: ranges.length === 0 ? [] : [{ minute: 10, route: 'list', ranges }],
    ...changes,
  }
}

function kept(ranges: readonly NumberRange[], changes: Partial<StoredRead> = {}): StoredRead {
  const { minutes: _, ...reading } = noted([])
  return { ...reading, ranges, ...changes }
}

async function rangesOf(store: StorageEngine): Promise<readonly NumberRange[] | undefined> {
  return (await store.consumers.readings(properties))[0]?.ranges
}

function result(changes: Partial<ConsumerResult> = {}): ConsumerResult {
  return {
    tenantId: tenantA,
    subjectId: uuid('house'),
    keyId: 'key',
    name: 'website',
    sequenceNumber: 7,
    outcome: 'live',
    code: undefined,
    message: undefined,
    url: 'https://example.com/house',
    resultMs: 5_000,
    ...changes,
  }
}

/** The log that reports leave, by the rule in the simplest form. */
function changesByFold(reports: readonly ConsumerResult[]): readonly ConsumerResult[] {
  const last = new Map<string, ConsumerResult>()
  const log = new Map<string, ConsumerResult>()
  for (const one of reports) {
    const place = `${one.subjectId} ${one.name}`
    const before = last.get(place)
    const isOlder =
      before !== undefined &&
      (one.sequenceNumber < before.sequenceNumber ||
        (one.sequenceNumber === before.sequenceNumber && one.resultMs < before.resultMs))
    if (isOlder) continue
    last.set(place, one)
    if (before?.outcome === one.outcome && before.url === one.url) continue
    log.set(`${place} ${one.sequenceNumber} ${one.resultMs}`, one)
  }
  return [...log.values()]
}

function changeText({ subjectId, name, sequenceNumber, outcome, url, resultMs }: ResultChange): string {
  return JSON.stringify([subjectId, name, sequenceNumber, outcome, url, resultMs])
}

export function consumersContract(factory: StoreFactory): void {
  describe('who has seen what', () => {
    it('joins what several nodes add, in whatever order, and keeps how the last request went (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await Promise.all([
        store.consumers.add([noted([[1, 5]], { askedMs: 3_000, status: 304, route: 'run', quietMs: 3_000 })]),
        store.consumers.add([
          noted(
            [
              [6, 7],
              [20, 30],
            ],
            { askedMs: 2_000, quietMs: 1_500 },
          ),
        ]),
        store.consumers.add([noted([[25, 40]], { askedMs: 1_000 })]),
      ])
      const whole = [
        [1, 7],
        [20, 40],
      ] as const
      const last = { askedMs: 3_000, status: 304, route: 'run', quietMs: 3_000 } as const
      assert.deepEqual(await store.consumers.readings(properties), [kept(whole, last)])
      await store.consumers.add([])
      await store.consumers.add([noted([[8, 19]])])
      assert.deepEqual(await store.consumers.readings(properties), [kept([[1, 40]], last)])
      assert.deepEqual(await store.consumers.sentAfter(noted([]), undefined, 9), [
        { ...part, minute: 10, route: 'list', range: [1, 40] },
      ])
    })

    it('keeps tenants, feeds, keys, names, views, spaces, epochs, minutes and routes apart (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const ways: readonly Partial<NewRead>[] = [
        {},
        { key: feedKey(tenantB, 'property') },
        { key: feedKey(tenantA, 'contact') },
        { keyId: 'other' },
        { name: 'website' },
        { view: 'sales' },
        { space: 'numbers', epoch: '' },
        { epoch: 'e2' },
      ]
      await store.consumers.add(ways.map((changes, index) => noted([[index + 1, index + 1]], changes)))
      const found = await store.consumers.readings(properties)
      const names = found.map(({ keyId, name, view, space, epoch, ranges }) => [
        keyId,
        name,
        view,
        space,
        epoch,
        ranges[0]?.[0],
      ])
      assert.deepEqual(names, [
        ['key', 'default', 'all', 'numbers', '', 7],
        ['key', 'default', 'all', 'ordinals', 'e1', 1],
        ['key', 'default', 'all', 'ordinals', 'e2', 8],
        ['key', 'default', 'sales', 'ordinals', 'e1', 6],
        ['key', 'website', 'all', 'ordinals', 'e1', 5],
        ['other', 'default', 'all', 'ordinals', 'e1', 4],
      ])
      const minutes = [
        { minute: 12, route: 'run', ranges: [[3, 4]] },
        { minute: 11, route: 'list', ranges: [[1, 2]] },
        { minute: 11, route: 'event', ranges: [[2, 2]] },
      ] as const
      await store.consumers.add([noted([], { key: feedKey(tenantB, 'contact'), minutes })])
      const other = noted([], { key: feedKey(tenantB, 'contact') })
      const rows = await store.consumers.sentAfter(other, undefined, 9)
      assert.deepEqual(
        rows.map(({ minute, route, range }) => [minute, route, range]),
        [
          [11, 'list', [1, 1]],
          [11, 'event', [2, 2]],
          [12, 'run', [3, 4]],
        ],
      )
    })

    it(`keeps ${mostRanges} ranges of a view, the first and the highest (D28)`, async () => {
      await using store = await withTenants(await factory.create())
      const many = Array.from({ length: mostRanges + 100 }, (_, index): NumberRange => [
        index * 10 + 1,
        index * 10 + 1,
      ])
      for (const ranges of [many.slice(300), many.slice(0, 300)]) await store.consumers.add([noted(ranges)])
      const [first, ...rest] = many
      assert.deepEqual(await rangesOf(store), [first, ...rest.slice(1 - mostRanges)])
    })

    it(`keeps ${namedConsumersPerFeed} names of a feed, and every key (PROTOCOL §14)`, async () => {
      await using store = await withTenants(await factory.create())
      const named = Array.from({ length: namedConsumersPerFeed + 20 }, (_, n) =>
        noted([[1, 1]], { name: `site-${n}` }),
      )
      await store.consumers.add(named.slice(0, 150))
      await store.consumers.add(named.slice(150))
      await store.consumers.add([noted([[1, 1]]), noted([[2, 2]], { name: 'site-3' })])
      await store.consumers.acknowledge([
        { ...noted([], { name: 'one-more' }), sequenceNumber: 3, epoch: 'e1', acknowledgedMs: 1 },
      ])
      const found = await store.consumers.readings(properties)
      assert.equal(found.filter(({ name }) => name !== 'default').length, namedConsumersPerFeed)
      assert.deepEqual(found.find(({ name }) => name === 'site-3')?.ranges, [[1, 2]])
      assert(found.some(({ name }) => name === 'default'))
      assert.deepEqual(await store.consumers.acknowledgements(properties), [])
      await store.consumers.add([noted([[1, 1]], { key: feedKey(tenantB, 'property'), name: 'one-more' })])
      assert.equal((await store.consumers.readings(feedKey(tenantB, 'property'))).length, 1)
    })

    it('moves an acknowledgement only forward, and always to another epoch (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const say = (sequenceNumber: number, epoch: string, acknowledgedMs: number) =>
        store.consumers.acknowledge([
          { key: properties, keyId: 'key', name: 'website', sequenceNumber, epoch, acknowledgedMs },
        ])
      const said = async () =>
        (await store.consumers.acknowledgements(properties)).map((one) => [
          one.name,
          one.sequenceNumber,
          one.epoch,
          one.acknowledgedMs,
        ])
      await say(5, 'e1', 1)
      await say(9, 'e1', 2)
      await say(7, 'e1', 3)
      assert.deepEqual(await said(), [['website', 9, 'e1', 2]])
      await say(3, 'e2', 4)
      assert.deepEqual(await said(), [['website', 3, 'e2', 4]])
    })

    it('counts refusals, and starts again after an hour without one (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const refusal = {
        keyId: 'key',
        name: 'default',
        tenantId: undefined,
        code: 'rate_limited',
        status: 429,
      }
      await Promise.all([
        store.consumers.addRefusals([{ ...refusal, sinceMs: 1_000, lastMs: 2_000, count: 2 }]),
        store.consumers.addRefusals([{ ...refusal, sinceMs: 500, lastMs: 900, count: 3 }]),
        store.consumers.addRefusals([{ ...refusal, tenantId: tenantA, sinceMs: 1, lastMs: 1, count: 1 }]),
      ])
      const found = async () =>
        (await store.consumers.refusals(['key', 'other'])).filter(({ tenantId }) => tenantId === undefined)
      assert.deepEqual(await found(), [{ ...refusal, sinceMs: 500, lastMs: 2_000, count: 5 }])
      const later = { ...refusal, sinceMs: 2_001 + refusalPauseMs, lastMs: 2_001 + refusalPauseMs, count: 1 }
      await store.consumers.addRefusals([later])
      assert.deepEqual(await found(), [later])
      assert.deepEqual(await store.consumers.refusals(['other']), [])
    })

    it('keeps the last result of a property and consumer, by number and then by time (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      await store.consumers.putResults([
        result(),
        result({ sequenceNumber: 9, outcome: 'refused', code: 'bad', url: undefined }),
      ])
      await store.consumers.putResults([
        result({ sequenceNumber: 8, resultMs: 9_000 }),
        result({ keyId: 'other' }),
      ])
      const held = result({
        sequenceNumber: 9,
        outcome: 'held',
        message: 'waits for a photograph',
        url: undefined,
        resultMs: 6_000,
      })
      await store.consumers.putResults([held])
      assert.deepEqual(await store.consumers.results(tenantA, uuid('house')), [
        held,
        result({ keyId: 'other' }),
      ])
      assert.deepEqual(await store.consumers.results(tenantB, uuid('house')), [])
      assert.deepEqual(await store.consumers.results(tenantA, uuid('garden')), [])
    })

    it('logs each change of outcome or address, as a fold of the reports does, and no repeat (D28)', async () => {
      await using store = await withTenants(await factory.create())
      let seed = 7
      const random = (below: number): number => {
        seed = (seed * 48_271) % 2_147_483_647
        return seed % below
      }
      const outcomes = ['live', 'held', 'refused'] as const
      const reports = Array.from({ length: 400 }, (_, at) =>
        result({
          subjectId: uuid(random(2) === 0 ? 'house' : 'garden'),
          name: random(2) === 0 ? 'website' : 'Tŷ Mawr',
          sequenceNumber: 1 + Math.floor(at / 8) + random(3),
          outcome: outcomes[random(3)] ?? 'live',
          url: random(3) === 0 ? undefined : `https://example.com/tŷ-${random(2)}`,
          message: `£${at}`,
          resultMs: 1_000 + at * 3 - random(8),
        }),
      )
      for (let from = 0; from < reports.length; from += 25)
        await store.consumers.putResults(reports.slice(from, from + 25))
      const expected = changesByFold(reports)
      assert.ok(expected.length > 50 && expected.length < reports.length)
      const read: ResultChange[] = []
      for (;;) {
        const some = await store.consumers.resultChangesAfter(tenantA, read.at(-1), 7)
        if (some.length === 0) break
        read.push(...some)
      }
      assert.deepEqual(new Set(read.map(changeText)), new Set(expected.map(changeText)))
      assert.equal(read.length, expected.length)
      const house = await store.consumers.resultChanges(tenantA, uuid('house'))
      assert.deepEqual(
        house,
        read.filter(({ subjectId }) => subjectId === uuid('house')),
      )
      // What is older than it is kept goes, from two nodes at once; the latest result stays.
      const results = await store.consumers.results(tenantA, uuid('house'))
      const tidy = { consumers: [], mostRows: 20, beforeMs: 1_500 }
      await Promise.all([store.consumers.tidy(tidy), store.consumers.tidy(tidy)])
      assert.deepEqual(
        await store.consumers.resultChanges(tenantA, uuid('house')),
        house.filter(({ resultMs }) => resultMs >= 1_500),
      )
      assert.deepEqual(await store.consumers.results(tenantA, uuid('house')), results)
    })

    it('logs the first report after a withdrawal, though outcome and address are as before (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const house = (text: string) => draft({ subject: 'house', text })
      const drafts = [house('Tŷ £300'), house('pris newydd'), removal({ subject: 'house' }), house('Tŷ £300')]
      await publish(store, [...drafts, draft({ subject: 'garden' })], { key: properties })
      const say = (sequenceNumber: number, resultMs: number, name?: string) =>
        result({ sequenceNumber, resultMs, ...(name === undefined ? {} : { name }) })
      // 3 is the removal, 4 the publication after it. One site reports each number at once, the other only what it shows.
      await store.consumers.putResults([
        say(1, 10),
        say(2, 20),
        say(3, 30),
        say(3, 35),
        say(4, 40),
        say(5, 50),
      ])
      await store.consumers.putResults([say(1, 10, 'other'), say(2, 20, 'other')])
      await store.consumers.putResults([say(4, 40, 'other'), say(4, 45, 'other')])
      const log = await store.consumers.resultChanges(tenantA, uuid('house'))
      assert.deepEqual(
        log.map(({ name, sequenceNumber, resultMs }) => [name, sequenceNumber, resultMs]),
        [
          ['other', 1, 10],
          ['other', 4, 40],
          ['website', 1, 10],
          ['website', 3, 30],
          ['website', 4, 40],
        ],
      )
    })

    it('logs the first report after the first publication, though an earlier report named a number before it (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const drafts = [
        draft({ subject: 'garden', text: 'Gardd – £' }),
        draft({ subject: 'house', text: 'Tŷ 🏡' }),
      ]
      await publish(store, drafts, { key: properties })
      await store.consumers.putResults([result({ sequenceNumber: 1, resultMs: 10 })])
      await store.consumers.putResults([result({ sequenceNumber: 2, resultMs: 20 })])
      const other = { name: 'other' }
      await store.consumers.putResults([
        result({ ...other, sequenceNumber: 1, resultMs: 10 }),
        result({ ...other, sequenceNumber: 2, resultMs: 20 }),
        result({ ...other, sequenceNumber: 2, resultMs: 30 }),
      ])
      const log = await store.consumers.resultChanges(tenantA, uuid('house'))
      assert.deepEqual(
        log.map(({ name, sequenceNumber, resultMs }) => [name, sequenceNumber, resultMs]),
        [
          ['other', 1, 10],
          ['other', 2, 20],
          ['website', 1, 10],
          ['website', 2, 20],
        ],
      )
    })

    it('logs a change once that two nodes report at once (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await Promise.all([1, 2, 3, 4].map(() => store.consumers.putResults([result()])))
      assert.equal((await store.consumers.resultChanges(tenantA, uuid('house'))).length, 1)
    })

    it('keeps words with a character that was cut in half, as other texts with one (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const house = '\u{1f3e1}'
      await store.consumers.putResults([result({ message: `Tŷ Mawr – £300 ${house} ${house.slice(0, 1)}` })])
      const [kept] = await store.consumers.results(tenantA, uuid('house'))
      assert.equal(kept?.message, `Tŷ Mawr – £300 ${house} \ufffd`)
    })

    it('says which results are the first report that a latest version is live, and how long that took (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      await publish(store, [draft({ subject: 'house' }), draft({ subject: 'garden' })])
      const [first] = await list(store)
      const publishedMs = Date.parse(`${first?.createdDate.slice(0, 23)}Z`)
      const say = async (...changes: readonly Partial<ConsumerResult>[]) => {
        const results = changes.map((change) =>
          result({ sequenceNumber: 1, resultMs: publishedMs + 5_000, ...change }),
        )
        return (await store.consumers.putResults(results)).live
      }
      const live = (keyId: string, name: string, afterMs = 5_000) => ({ keyId, name, afterMs })
      assert.deepEqual(await say({ outcome: 'held' }, { keyId: 'other', outcome: 'refused' }), [])
      assert.deepEqual(
        (await say({}, { name: 'portal', resultMs: publishedMs + 60_000 })).toSorted(
          (a, b) => a.afterMs - b.afterMs,
        ),
        [live('key', 'website'), live('key', 'portal', 60_000)],
      )
      const later = { resultMs: publishedMs + 9_000 }
      assert.deepEqual(await say(later, { ...later, name: 'portal' }), [], 'said again')
      assert.deepEqual(await say({ keyId: 'late', sequenceNumber: 2 }), [], 'of another property')
      assert.deepEqual(await say({ keyId: 'stranger', subjectId: uuid('nothing') }), [], 'of no property')
      assert.deepEqual(await say({ tenantId: tenantB }), [], 'of another tenant')
      await publish(store, [draft({ subject: 'house', text: 'changed' })])
      assert.deepEqual(await say({ keyId: 'slow' }), [], 'of a version that is not the latest')
      const second = (await list(store)).at(-1)
      const changedMs = Date.parse(`${second?.createdDate.slice(0, 23)}Z`)
      const anew = { sequenceNumber: 3, resultMs: changedMs + 1_000 }
      assert.deepEqual(await say(anew), [live('key', 'website', 1_000)])
      assert.deepEqual(await say({ ...anew, outcome: 'held', resultMs: changedMs + 2_000 }), [])
      assert.deepEqual(await say({ ...anew, resultMs: changedMs + 3_000 }), [live('key', 'website', 3_000)])
    })

    it('keeps no results of more names than a feed has room for (PROTOCOL §14)', async () => {
      await using store = await withTenants(await factory.create())
      const named = (from: number, count: number) =>
        Array.from({ length: count }, (_, index) =>
          result({ name: `site-${from + index}`, subjectId: uuid(`house ${from + index}`) }),
        )
      assert.equal((await store.consumers.putResults(named(0, namedConsumersPerFeed))).leftOut, 0)
      assert.equal((await store.consumers.putResults(named(namedConsumersPerFeed, 2))).leftOut, 2)
      const known = result({ name: 'site-3', subjectId: uuid('house 3') })
      assert.equal((await store.consumers.putResults([known, result({ name: 'default' })])).leftOut, 0)
      assert.equal((await store.consumers.putResults([result({ tenantId: tenantB })])).leftOut, 0)
      const last = await store.consumers.results(tenantA, uuid(`house ${namedConsumersPerFeed}`))
      assert.deepEqual(last, [])
    })

    it('hands results over property by property (D28)', async () => {
      await using store = await withTenants(await factory.create())
      const all = ['a', 'b', 'c', 'd'].flatMap((house) =>
        ['one', 'two', 'three'].map((keyId) => result({ subjectId: uuid(house), keyId })),
      )
      await store.consumers.putResults(all)
      const read: ConsumerResult[] = []
      for (;;) {
        const some = await store.consumers.resultsAfter(tenantA, read.at(-1)?.subjectId, 4)
        if (some.length === 0) break
        read.push(...some)
      }
      const name = ({ subjectId, keyId }: ConsumerResult) => `${subjectId} ${keyId}`
      assert.deepEqual(read.map(name).toSorted(), all.map(name).toSorted())
    })

    it('loses reports on the property to an erasure, and keeps none that come late (D17)', async () => {
      await using store = await withTenants(await factory.create())
      for (const key of [properties, feedKey(tenantB, 'property')]) {
        await publish(store, [draft({ subject: 'house' }), draft({ subject: 'garden' })], { key })
      }
      const said = [
        result({ sequenceNumber: 1, message: 'as it says' }),
        result({ sequenceNumber: 1, keyId: 'other' }),
      ]
      const others = [
        result({ sequenceNumber: 2, subjectId: uuid('garden') }),
        result({ sequenceNumber: 1, tenantId: tenantB }),
      ]
      await store.consumers.putResults([...said, ...others])
      const logged = async () => (await store.consumers.resultChanges(tenantA, uuid('house'))).length
      assert.equal(await logged(), 2)
      const kept = () => store.consumers.results(tenantA, uuid('house'))
      assert.equal((await kept()).length, 2)
      const { closing } = await erase(store, subject('house'), { key: properties })
      const number = closing?.sequenceNumber ?? 0
      assert.equal(number, 3)
      assert.deepEqual(await kept(), [])
      assert.equal(await logged(), 0)
      await store.consumers.putResults(said)
      assert.deepEqual(await kept(), [])
      // Of the closing event it may say what became of that, and nothing that may have been made of the payloads.
      const words = { code: 'kept', message: 'Mill Lane 12', url: 'https://example.com/mill-lane-12' }
      await store.consumers.putResults([result({ sequenceNumber: number, ...words })])
      assert.deepEqual(await kept(), [result({ sequenceNumber: number, url: undefined })])
      await publish(store, [draft({ subject: 'house', text: 'back' })], { key: properties })
      await store.consumers.putResults([result({ sequenceNumber: number, ...words, resultMs: 9_000 })])
      assert.ok((await kept()).every(({ message }) => message === undefined))
      const back = result({ sequenceNumber: number + 1, ...words })
      await store.consumers.putResults([back])
      assert.deepEqual(await kept(), [back])
      assert.equal((await store.consumers.resultChanges(tenantA, uuid('garden'))).length, 1)
      assert.deepEqual(await store.consumers.results(tenantA, uuid('garden')), [others[0]])
      assert.deepEqual(await store.consumers.results(tenantB, uuid('house')), [others[1]])
    })

    it('loses to the erasure of one event the reports on that version, and no more (D17)', async () => {
      await using store = await withTenants(await factory.create())
      const drafts = ['1', '2', '3'].map((text) => draft({ subject: 'house', text }))
      const [, second, third] = await publish(store, drafts, { key: properties })
      await publish(store, [draft({ subject: 'garden' }), draft({ subject: 'house', text: '5' })], {
        key: properties,
      })
      // The fourth event is another property's: who says so with its number speaks of the third of this one.
      const said = [1, 2, 4, 5].map((sequenceNumber) =>
        result({ sequenceNumber, name: `site-${sequenceNumber}` }),
      )
      await store.consumers.putResults(said)
      const kept = async () =>
        (await store.consumers.results(tenantA, uuid('house'))).map(({ sequenceNumber }) => sequenceNumber)
      await erase(store, { kind: 'event', eventId: second?.id ?? '' }, { key: properties })
      assert.deepEqual(await kept(), [1, 4, 5])
      await erase(store, { kind: 'event', eventId: third?.id ?? '' }, { key: properties })
      assert.deepEqual(await kept(), [1, 5])
      const logged = (await store.consumers.resultChanges(tenantA, uuid('house'))).map(
        (one) => one.sequenceNumber,
      )
      assert.deepEqual(logged, [1, 5])
      // And nothing of them comes late.
      await store.consumers.putResults(said.map((one) => ({ ...one, resultMs: 9_000 })))
      assert.deepEqual(await kept(), [1, 5])
    })

    it('goes with a backup (D28)', async () => {
      await using store = await withTenants(await factory.create())
      await store.consumers.add([noted([[1, 5]], { quietMs: 4 })])
      await store.consumers.acknowledge([{ ...noted([]), sequenceNumber: 5, epoch: 'e1', acknowledgedMs: 6 }])
      await store.consumers.putResults([result()])
      await store.consumers.addRefusals([
        {
          keyId: 'key',
          name: 'default',
          tenantId: tenantA,
          code: 'epoch_changed',
          status: 409,
          sinceMs: 1,
          lastMs: 2,
          count: 3,
        },
      ])
      await using backup = await factory.copy(store)
      for (const one of [store, backup]) {
        assert.deepEqual(await one.consumers.readings(properties), [kept([[1, 5]], { quietMs: 4 })])
        assert.equal((await one.consumers.sentAfter(noted([]), undefined, 9)).length, 1)
        assert.equal((await one.consumers.acknowledgements(properties))[0]?.sequenceNumber, 5)
        assert.deepEqual(await one.consumers.results(tenantA, uuid('house')), [result()])
        assert.equal((await one.consumers.resultChanges(tenantA, uuid('house'))).length, 1)
        assert.equal((await one.consumers.refusals(['key']))[0]?.count, 3)
      }
    })
  })
}
