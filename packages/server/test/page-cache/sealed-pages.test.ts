import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { ViewName } from '@property-events/protocol'
import type { LocatedPage } from '../../src/reading/list.ts'
import { sealedPages } from '../../src/reading/page-cache/index.ts'
import type { PageBody } from '../../src/http/answer-body.ts'
import { createPageReader } from '../../src/reading/page-cache/page-reader.ts'
import type { PageReader } from '../../src/reading/page-cache/page-reader.ts'
import { createSealer } from '../../src/reading/page-cache/segments/sealer.ts'
import type { Sealer } from '../../src/reading/page-cache/segments/sealer.ts'
import { openSegmentFile } from '../../src/reading/page-cache/segments/segment-file.ts'
import { storedSegment } from '../../src/reading/page-cache/segments/stored-segment.ts'
import type { SegmentId } from '../../src/reading/page-cache/segments/segment-id.ts'
import { createSegmentMemory } from '../../src/reading/page-cache/segments/segment-memory.ts'
import type { SegmentMemory } from '../../src/reading/page-cache/segments/segment-memory.ts'
import { createSegmentStore } from '../../src/reading/page-cache/segments/segment-store.ts'
import { sealSegment } from '../../src/reading/page-cache/segments/segment.ts'
import { payloadState } from '../../src/events/append/reduced-event.ts'
import type { ViewRange } from '../../src/events/event-log.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { rangeReads, whole } from '../support/range-reads.ts'
import { until } from '../support/until.ts'

const key = { tenantId: '10000000-0000-4000-8000-000000000000', feed: 'property' } as const

/** An event's JSON, with texts that look like what stands between two events. */
function eventJson(ordinal: number, word = 'text'): string {
  const payload = JSON.stringify({ text: word.repeat(ordinal % 7), trap: '"},{"tenantId":"x"}', émoji: '🏡' })
  return `{"tenantId":"${key.tenantId}","sequenceNumber":${ordinal},"payload":${JSON.stringify(payload)}}`
}

/** A view of the feed that grows, and counts what is read from it. */
function growingView(count: number) {
  const events = Array.from({ length: count }, (_, index) => eventJson(index + 1))
  let eventsRead = 0
  return {
    events,
    eventsRead: () => eventsRead,
    readRange: (range: ViewRange): Promise<readonly Uint8Array[]> => {
      const read = events.slice(range.first - 1, range.first - 1 + range.count)
      eventsRead += read.length
      return Promise.resolve(read.length === 0 ? [] : [Buffer.from(read.join(','))])
    },
  }
}

function pageAt(
  first: number,
  count: number,
  state: { revision?: number; thinned?: number; epoch?: string; view?: ViewName } = {},
): LocatedPage {
  const { revision = 0, thinned = 0, epoch = 'epoch', view = 'all' } = state
  return {
    page: 3,
    pageSize: 7,
    availableCount: 12_345,
    totalPages: 1_764,
    head: { position: 1, sequenceNumber: 1, created: 1n, epoch, revision, thinned },
    range: { key, view, first, count },
  }
}

interface Sealed {
  readonly reader: PageReader
  readonly sealer: Sealer
  readonly memory: SegmentMemory
}

function sealedReader(
  view: { readRange: (range: ViewRange) => Promise<readonly Uint8Array[]> },
  options: {
    path?: string
    memoryBytes?: number
    fileBytes?: number
    notedEveryBytes?: number
    clock?: () => number
  },
): Sealed {
  const { path, memoryBytes = 1e9, fileBytes = 1e9, notedEveryBytes, clock = () => 0 } = options
  const file = path === undefined ? undefined : openSegmentFile(path, fileBytes, notedEveryBytes)
  const memory = createSegmentMemory({ memoryBytes, leastBytes: 2 ** 20 })
  const store = createSegmentStore({ memory, file })
  const reads = rangeReads(view.readRange)
  const sealer = createSealer(reads, store, clock)
  return { reader: createPageReader(reads, { store, sealer }), sealer, memory }
}

async function textOf(reader: PageReader, page: LocatedPage, coding: 'identity' | 'gzip'): Promise<string> {
  const body = whole(await reader.read(page, coding))
  const bytes = Buffer.concat(body.pieces)
  assert.equal(bytes.length, body.byteLength)
  body.release()
  return (coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}

function expected(events: readonly string[], { range }: LocatedPage): string {
  const items = events.slice(range.first - 1, range.first - 1 + range.count).join(',')
  return `{"items":[${items}],"page":3,"pageSize":7,"availableCount":12345,"totalPages":1764}`
}

const ways = [
  { name: 'in memory', options: () => ({}) },
  {
    name: 'in a file, little memory',
    options: (folder: string) => ({ path: join(folder, 'sealed'), memoryBytes: 20_000 }),
  },
  {
    name: 'in a file, no memory',
    options: (folder: string) => ({ path: join(folder, 'sealed'), memoryBytes: 0 }),
  },
  {
    name: 'in a full file',
    options: (folder: string) => ({ path: join(folder, 'sealed'), memoryBytes: 0, fileBytes: 60_000 }),
  },
]

describe('sealed pages', () => {
  for (const way of ways) {
    it(`${way.name} give the same text as the store, for any range, plain and gzipped, sealed or not yet (P9)`, async () => {
      const ranges = fc.tuple(fc.integer({ min: 1, max: 760 }), fc.integer({ min: 0, max: 320 }))
      const asked = fc.array(
        fc.tuple(ranges, fc.constantFrom<'identity' | 'gzip'>('identity', 'gzip'), fc.boolean()),
        { maxLength: 12 },
      )
      await fc.assert(
        fc.asyncProperty(asked, async (reads) => {
          using folder = temporaryFolder()
          const view = growingView(750)
          const { reader, sealer } = sealedReader(view, way.options(folder.path))
          for (const [[first, wanted], coding, settle] of reads) {
            const page = pageAt(first, Math.max(0, Math.min(wanted, 750 - first + 1)))
            assert.equal(await textOf(reader, page, coding), expected(view.events, page))
            if (settle) await sealer.idle()
          }
          await reader.close()
        }),
        { numRuns: 40 },
      )
    })
  }

  it('are read from the store once, and again only while the view still grows (D4)', async () => {
    const view = growingView(250)
    const { reader, sealer } = sealedReader(view, {})
    await textOf(reader, pageAt(1, 200), 'identity')
    await sealer.idle()
    const before = view.eventsRead()
    await textOf(reader, pageAt(1, 200), 'identity')
    await textOf(reader, pageAt(26, 75), 'gzip')
    assert.equal(view.eventsRead(), before)
    await textOf(reader, pageAt(201, 50), 'identity')
    await sealer.idle()
    view.events.push(...Array.from({ length: 60 }, (_, index) => eventJson(251 + index)))
    const page = pageAt(201, 100)
    assert.equal(await textOf(reader, page, 'identity'), expected(view.events, page))
    await reader.close()
  })

  it('are not made for nothing when their file is full, tried again after a while, and made again when it was emptied (P9)', async () => {
    using folder = temporaryFolder()
    const view = growingView(300)
    let nowMs = 0
    const path = join(folder.path, 'sealed')
    const { reader, sealer } = sealedReader(view, { path, memoryBytes: 0, fileBytes: 1, clock: () => nowMs })
    const readsOf = async (page: LocatedPage): Promise<number> => {
      const before = view.eventsRead()
      assert.equal(await textOf(reader, page, 'identity'), expected(view.events, page))
      await sealer.idle()
      return view.eventsRead() - before
    }
    assert.equal(await readsOf(pageAt(1, 300)), 400, 'the first segment shows that there is no room')
    for (let round = 0; round < 5; round += 1) assert.equal(await readsOf(pageAt(1, 300)), 300)
    nowMs += 60_000
    assert.equal(await readsOf(pageAt(1, 300)), 400)
    assert.equal(await readsOf(pageAt(1, 300)), 300)
    assert.equal(await readsOf(pageAt(1, 300, { revision: 1 })), 400)
    await reader.close()
  })

  it('are sealed soon after the view has grown, whatever becomes of the clock meanwhile (P9)', async (context) => {
    let [sinceStart, sinceEpoch] = [0, 1e12]
    context.mock.method(performance, 'now', () => sinceStart)
    context.mock.method(Date, 'now', () => sinceEpoch)
    const view = growingView(50)
    const reader = sealedPages(rangeReads(view.readRange), {
      memoryBytes: 1e7,
      folder: undefined,
      fileBytes: 0,
    })
    await textOf(reader, pageAt(1, 50), 'identity')
    await until(() => view.eventsRead() === 100, { what: 'a first look' })
    // It has found the segment incomplete.
    await new Promise(setImmediate)
    view.events.push(...Array.from({ length: 50 }, (_, index) => eventJson(51 + index)))
    sinceStart += 3_000
    sinceEpoch -= 3_600_000
    const isSealed = async (): Promise<boolean> => {
      const before = view.eventsRead()
      assert.equal(await textOf(reader, pageAt(1, 100), 'identity'), expected(view.events, pageAt(1, 100)))
      return view.eventsRead() === before
    }
    await until(isSealed, { what: 'a sealed page' })
    await reader.close()
  })

  it('are right for every part of a segment, plain and gzipped, from a file and from memory (P9)', async () => {
    using folder = temporaryFolder()
    const view = growingView(200)
    const path = join(folder.path, 'sealed')
    await sealAndClose(view, path)
    for (const memoryBytes of [0, 1e6]) {
      const { reader } = sealedReader(view, { path, memoryBytes })
      for (let round = 0; round < 2; round += 1) {
        for (let count = 1; count <= 100; count += 3) {
          for (const first of [1, 1 + Math.floor((100 - count) / 2), 101 - count, 101]) {
            for (const coding of ['identity', 'gzip'] as const) {
              const page = pageAt(first, count)
              assert.equal(await textOf(reader, page, coding), expected(view.events, page))
            }
          }
        }
      }
      await reader.close()
    }
  })

  it('survive a restart in their file (P9)', async () => {
    using folder = temporaryFolder()
    const view = growingView(300)
    const path = join(folder.path, 'sealed')
    await sealAndClose(view, path)
    assert.equal(statSync(path).mode & 0o777, 0o600)

    const before = view.eventsRead()
    const second = sealedReader(view, { path, memoryBytes: 0 })
    for (const coding of ['identity', 'gzip'] as const) {
      assert.equal(await textOf(second.reader, pageAt(1, 300), coding), expected(view.events, pageAt(1, 300)))
    }
    assert.equal(view.eventsRead(), before)
    await second.reader.close()
  })

  it('never serve what a crash left of their file: torn ends, zeros, changed bytes (P9)', async () => {
    const damages: ((path: string, size: number) => void)[] = [
      (path, size) => truncateSync(path, size - 1),
      (path) => truncateSync(path, 10),
      (path, size) => overwrite(path, size - 2_000, Buffer.alloc(1_000)),
      (path) => overwrite(path, 900, Buffer.from('X')),
      (path) => overwrite(path, 200, Buffer.alloc(8)),
      (path) => overwrite(path, 40, Buffer.from('XX')),
      (path) => overwrite(path, 0, Buffer.alloc(28)),
    ]
    // A note of where everything stands was left on the way, or none; that of an orderly end does not cover what was changed later.
    const ends: ((view: ReturnType<typeof growingView>, path: string) => Promise<void>)[] = [
      sealAndClose,
      sealAndCrash,
      async (view, path) => {
        await sealAndCrash(view, path)
        rmSync(`${path}.index`)
      },
    ]
    const cases = damages.flatMap((damage) =>
      ends.flatMap((end) => [0, 1e7].map((memoryBytes) => [damage, end, memoryBytes] as const)),
    )
    for (const [damage, end, memoryBytes] of cases) {
      using folder = temporaryFolder()
      const view = growingView(400)
      const path = join(folder.path, 'sealed')
      await end(view, path)
      // File systems count time in steps of some milliseconds.
      await wait(20)
      damage(path, statSync(path).size)

      const second = sealedReader(view, { path, memoryBytes })
      const whole = pageAt(1, 400)
      const parts = [pageAt(26, 25), pageAt(30, 9)]
      // The first is kept whole, where anything is kept, and parts of it are asked for when the damage behind it was found.
      for (const page of [pageAt(1, 100), pageAt(201, 200), ...parts, whole, whole, ...parts]) {
        for (const coding of ['gzip', 'identity'] as const) {
          assert.equal(await textOf(second.reader, page, coding), expected(view.events, page))
          await second.sealer.idle()
        }
      }
      const before = view.eventsRead()
      assert.equal(await textOf(second.reader, whole, 'identity'), expected(view.events, whole))
      assert.equal(view.eventsRead(), before, 'what was damaged is made again')
      await second.reader.close()
    }
  })

  it('come from the store if their file cannot be read any more, and hold no memory then (P9, P11)', async () => {
    using folder = temporaryFolder()
    const view = growingView(300)
    const path = join(folder.path, 'sealed')
    // Reading a folder fails as a broken disk does.
    const unreadable = openSync(folder.path, 'r')
    const pages = [pageAt(1, 100), pageAt(101, 100), pageAt(26, 25), pageAt(130, 9)]
    for (const coding of ['identity', 'gzip'] as const) {
      for (const [memoryBytes, fault] of [0, 1e7].flatMap((bytes) =>
        (['unreadable', 'cut'] as const).map((fault) => [bytes, fault] as const),
      )) {
        for (const page of pages) {
          await sealAndClose(view, path)
          const file = openSegmentFile(path, 1e9)
          let isUnreadable = false
          const get = (id: SegmentId) =>
            isUnreadable ? storedSegment(unreadable, file.index, id) : file.get(id)
          const memory = createSegmentMemory({ memoryBytes, leastBytes: 2 ** 20 })
          const store = createSegmentStore({ memory, file: { ...file, get } })
          const reads = rangeReads(view.readRange)
          const sealer = createSealer(reads, store, () => 0)
          const reader = createPageReader(reads, { store, sealer })
          const first = pageAt(1, 100)
          assert.equal(await textOf(reader, first, coding), expected(view.events, first))
          if (fault === 'cut') truncateSync(path, 0)
          else isUnreadable = true
          assert.equal(await textOf(reader, page, coding), expected(view.events, page))
          assert.equal(reader.readSealedEvent(key, page.head, 201), undefined)
          await sealer.idle()
          store.clear()
          assert.equal(memory.freeBytes, memory.byteLength)
          await reader.close()
        }
      }
    }
    closeSync(unreadable)
  })

  it('are still checked after an orderly end when a crash came before and not all was read since (P9)', async () => {
    using folder = temporaryFolder()
    const view = growingView(300)
    const path = join(folder.path, 'sealed')
    await sealAndClose(view, path)
    rmSync(`${path}.index`)
    overwrite(path, statSync(path).size - 2_000, Buffer.alloc(1_000))
    const second = sealedReader(view, { path, memoryBytes: 0 })
    assert.equal(await textOf(second.reader, pageAt(1, 100), 'gzip'), expected(view.events, pageAt(1, 100)))
    await second.reader.close()
    const third = sealedReader(view, { path, memoryBytes: 0 })
    assert.equal(await textOf(third.reader, pageAt(1, 300), 'gzip'), expected(view.events, pageAt(1, 300)))
    await third.reader.close()
  })

  it('forget, on disk too, what erasures and retention have reduced and what an earlier epoch showed (D13, D17)', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const view = growingView(200)
    const states = [
      {},
      { revision: 1 },
      { revision: 1, thinned: 1 },
      { revision: 1, thinned: 2 },
      { revision: 1, thinned: 2, epoch: 'next' },
    ]
    for (const [index, change] of states.slice(1).entries()) {
      const old = sealedReader(view, { path })
      await textOf(old.reader, pageAt(1, 200, states[index]), 'gzip')
      await old.sealer.idle()
      const reduced = view.events[4] ?? ''
      assert.ok(readFileSync(path).includes(reduced))
      view.events[4] = eventJson(5, `reduced in ${JSON.stringify(change)} `).replaceAll('"text', '"TEXT')
      const page = pageAt(1, 200, change)
      for (const coding of ['identity', 'gzip'] as const) {
        assert.equal(await textOf(old.reader, page, coding), expected(view.events, page))
      }
      await old.sealer.idle()
      assert.ok(!readFileSync(path).includes(reduced))
      assert.equal(await textOf(old.reader, page, 'gzip'), expected(view.events, page))
      await old.reader.close()
    }
  })

  it('are not kept if they were read before everything was forgotten and made after it (D13, D17)', async () => {
    using folder = temporaryFolder()
    for (const file of [undefined, openSegmentFile(join(folder.path, 'sealed'), 1e9)]) {
      const view = growingView(100)
      const memory = createSegmentMemory({ memoryBytes: 1e7, leastBytes: 2 ** 20 })
      const store = createSegmentStore({ memory, file })
      let gate = Promise.withResolvers<void>()
      const slow = {
        readRange: (range: ViewRange) =>
          view.readRange(range).then((bytes) => gate.promise.then(() => bytes)),
      }
      const sealer = createSealer(rangeReads(slow.readRange), store, () => 0)
      const segment: SegmentId = { series: `${key.tenantId}/${key.feed} epoch/0 all`, number: 0 }
      const request = { segment, range: pageAt(1, 100).range }
      for (const forgotten of [true, false]) {
        gate = Promise.withResolvers<void>()
        sealer.want(request)
        await until(() => view.eventsRead() === (forgotten ? 100 : 200), { what: 'the read' })
        if (forgotten) {
          sealer.forgetAll()
          store.clear()
        }
        gate.resolve()
        await sealer.idle()
        assert.equal(store.has(segment), !forgotten)
      }
      store.close()
    }
  })

  it('give no single event out of bytes that nobody has checked (P9)', async () => {
    using folder = temporaryFolder()
    const view = growingView(300)
    const path = join(folder.path, 'sealed')
    for (const damaged of [false, true]) {
      await sealAndClose(view, path)
      rmSync(`${path}.index`)
      const fifth = readFileSync(path).indexOf(view.events[4] ?? '')
      assert.ok(fifth > 0)
      if (damaged) overwrite(path, fifth + 90, Buffer.from('X'))
      const { reader } = sealedReader(view, { path, memoryBytes: 0 })
      const page = pageAt(1, 100)
      const event = (): string | undefined => {
        const sealed = reader.readSealedEvent(key, page.head, 5)
        const text = sealed && Buffer.concat(sealed.pieces).toString()
        sealed?.release()
        return text
      }
      assert.equal(event(), undefined, 'before any page of it was read')
      assert.equal(await textOf(reader, page, 'identity'), expected(view.events, page))
      assert.equal(event(), damaged ? undefined : view.events[4])
      await reader.close()
    }
  })

  it('forget them after a restart as well, as soon as the feed is requested (D17)', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const view = growingView(100)
    view.events[0] = eventJson(1).replace('"sequenceNumber":1', '"sequenceNumber":1,"secret":"Mrs Example"')
    const first = sealedReader(view, { path })
    await textOf(first.reader, pageAt(1, 100), 'identity')
    await first.sealer.idle()
    await first.reader.close()
    assert.ok(readFileSync(path).includes('Mrs Example'))
    const second = sealedReader(view, { path })
    await textOf(second.reader, pageAt(1, 0, { revision: 1 }), 'identity')
    await second.reader.close()
    assert.equal(readFileSync(path).includes('Mrs Example'), false)
  })

  it('empty a file that has segments of two states of a feed, whichever is the present one (D13, D17)', async () => {
    const view = growingView(100)
    const segment = await sealSegment(Buffer.from(view.events.join(',')))
    assert.ok(segment)
    const [first, second] = [
      { revision: 0, thinned: 0 },
      { revision: 1, thinned: 0 },
    ]
    const thinned = { revision: 1, thinned: 3 }
    const orders = [
      [first, second],
      [second, first],
      [second, thinned],
      [thinned, first],
    ]
    for (const order of orders) {
      for (const present of order) {
        using folder = temporaryFolder()
        const path = join(folder.path, 'sealed')
        const file = openSegmentFile(path, 1e9)
        for (const state of order) {
          const series = `${key.tenantId}/${key.feed} epoch/${payloadState(state)} all`
          file.put({ series, number: 0 }, segment)
        }
        file.close()
        const { reader } = sealedReader(view, { path })
        await textOf(reader, pageAt(1, 0, present), 'identity')
        await reader.close()
        assert.equal(statSync(path).size, 0)
      }
    }
  })

  it('keep views apart (P4)', async () => {
    const all = growingView(100)
    const sales = Array.from({ length: 100 }, (_, index) => eventJson(index + 1, 'sale'))
    const both = {
      readRange: (range: ViewRange) =>
        range.view === 'all'
          ? all.readRange(range)
          : Promise.resolve([
              Buffer.from(sales.slice(range.first - 1, range.first - 1 + range.count).join(',')),
            ]),
    }
    const { reader, sealer } = sealedReader(both, {})
    for (let round = 0; round < 2; round += 1) {
      assert.equal(await textOf(reader, pageAt(1, 100), 'identity'), expected(all.events, pageAt(1, 100)))
      const page = pageAt(1, 100, { view: 'sales' })
      assert.equal(await textOf(reader, page, 'identity'), expected(sales, page))
      await sealer.idle()
    }
    await reader.close()
  })

  it('pass on the failure of a store, and seal nothing of it (P11)', async () => {
    const failing = { readRange: (): Promise<readonly Uint8Array[]> => Promise.reject(new Error('store')) }
    const { reader, sealer } = sealedReader(failing, {})
    await assert.rejects(async () => reader.read(pageAt(1, 100), 'gzip'), /store/)
    await sealer.idle()
    await reader.close()
  })

  it('hold no memory once they are sent, or could not be read to the end (P11)', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'sealed')
    const view = growingView(350)
    await sealAndClose(view, path)
    const failing = { readRange: (): Promise<readonly Uint8Array[]> => Promise.reject(new Error('store')) }
    for (const coding of ['identity', 'gzip'] as const) {
      const { reader, memory } = sealedReader(failing, { path, memoryBytes: 0 })
      const held = whole(await reader.read(pageAt(1, 300), coding))
      assert.ok(memory.freeBytes < memory.byteLength)
      for (const first of [201, 210]) {
        await assert.rejects(async () => reader.read(pageAt(first, 150), coding), /store/)
      }
      held.release()
      assert.equal(memory.freeBytes, memory.byteLength)
      await reader.close()
    }
  })

  it('release the memory of what was read from the store for them, and not before they are sent (P9, P11)', async () => {
    const view = growingView(200)
    // Too long and too little alike to be deflated into short bytes, which share their memory.
    for (const index of view.events.keys()) {
      view.events[index] = eventJson(index + 1, randomBytes(1_000).toString('base64'))
    }
    const given: Uint8Array[] = []
    const ofItsOwn = {
      // As the engines give them: alone in their memory.
      readRange: async (range: ViewRange): Promise<readonly Uint8Array[]> => {
        const pieces = (await view.readRange(range)).map((piece) => new Uint8Array(piece))
        given.push(...pieces)
        return pieces
      },
    }
    for (const coding of ['identity', 'gzip'] as const) {
      given.length = 0
      const { reader, sealer } = sealedReader(ofItsOwn, {})
      const pages = [pageAt(1, 150), pageAt(20, 7)]
      const bodies: PageBody[] = []
      for (const page of pages) bodies.push(whole(await reader.read(page, coding)))
      await sealer.idle()
      for (const [index, body] of bodies.entries()) {
        const bytes = Buffer.concat(body.pieces)
        const text = (coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
        assert.equal(text, expected(view.events, pages[index] ?? pageAt(1, 1)))
        body.release()
      }
      assert.ok(given.length > 0 && given.every((piece) => piece.byteLength === 0))
      const before = view.eventsRead()
      assert.equal(await textOf(reader, pageAt(1, 200), coding), expected(view.events, pageAt(1, 200)))
      assert.equal(view.eventsRead(), before, 'what was sealed of them is kept')
      await reader.close()
    }
  })
})

/** A file with the first 300 events of a view, closed in good order. */
async function sealAndClose(view: ReturnType<typeof growingView>, path: string): Promise<void> {
  const { reader, sealer } = sealedReader(view, { path, memoryBytes: 0 })
  await textOf(reader, pageAt(1, 300), 'identity')
  await sealer.idle()
  await reader.close()
}

/** The same file as a crash leaves it, when a note was left behind each segment. */
async function sealAndCrash(view: ReturnType<typeof growingView>, path: string): Promise<void> {
  const running = `${path}-running`
  const { reader, sealer } = sealedReader(view, { path: running, memoryBytes: 0, notedEveryBytes: 1 })
  await textOf(reader, pageAt(1, 300), 'identity')
  await sealer.idle()
  for (const end of ['', '.index']) copyFileSync(`${running}${end}`, `${path}${end}`)
  await reader.close()
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}
