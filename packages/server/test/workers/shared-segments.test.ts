/** Sealed pages of several threads in one file: sealed by any, read by all, and gone for all. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { LocatedPage } from '../../src/feed/list.ts'
import { sealedPages, sharedPagesFile } from '../../src/pages/index.ts'
import type { PageReader } from '../../src/pages/index.ts'
import type { EventStore, FeedKey, ViewRange } from '../../src/storage/storage.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { catalogues } from '@property-events/protocol'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { rangeReads, whole } from '../support/range-reads.ts'

const key: FeedKey = { tenantId: '10000000-0000-4000-8000-000000000000', feed: 'property' }
const items = Array.from(
  { length: 200 },
  (_, index) => `{"tenantId":"${key.tenantId}","sequenceNumber":${index + 1},"payload":"\\"text\\""}`,
)

/** A store that counts how many events are read from it. */
async function countingStore(): Promise<EventStore & { reads(): number }> {
  const storage = await openStorage({ kind: 'memory', create: true, catalogue: catalogues.default })
  let read = 0
  const reads = rangeReads(({ first, count }: ViewRange) => {
    read += count
    return Promise.resolve([Buffer.from(items.slice(first - 1, first - 1 + count).join(','))])
  })
  return { ...storage.events, reads: () => read, ...reads }
}

function page(number: number, revision = 0, tenantId = key.tenantId): LocatedPage {
  const head = { position: 200, sequenceNumber: 200, created: 1n, epoch: 'epoch', revision, thinned: 0 }
  const range = { key: { ...key, tenantId }, view: 'all', first: (number - 1) * 100 + 1, count: 100 } as const
  return { page: number, pageSize: 100, availableCount: 200, totalPages: 2, head, range }
}

async function textOf(reader: PageReader, asked: LocatedPage): Promise<string> {
  const body = whole(await reader.read(asked, 'identity'))
  const text = Buffer.concat(body.pieces).toString()
  body.release()
  return text
}

function expected(number: number): string {
  const text = items.slice((number - 1) * 100, number * 100).join(',')
  return `{"items":[${text}],"page":${number},"pageSize":100,"availableCount":200,"totalPages":2}`
}

/** Until reading the page asks the store no more. */
async function untilSealed(
  events: { reads(): number },
  reader: PageReader,
  asked: LocatedPage,
): Promise<void> {
  const isSealed = async (): Promise<boolean> => {
    const before = events.reads()
    assert.equal(await textOf(reader, asked), expected(asked.page))
    return events.reads() === before
  }
  await until(isSealed, { what: 'a sealed page' })
}

/** The other reader is told in the same moment, by a message, which comes with the next turn of the event loop. */
async function told(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate)
}

/** Two readers with a file in common, as two threads have it. */
function twoThreads(
  events: EventStore,
  folder: string,
  { memoryBytes = 0, fileBytes = 2 ** 24 },
): { readonly one: PageReader; readonly two: PageReader } & AsyncDisposable {
  const file = sharedPagesFile(folder, fileBytes, 2)
  const join = (): PageReader =>
    sealedPages(events, { memoryBytes, folder: undefined, fileBytes: 0, shared: file.pass() })
  const [one, two] = [join(), join()]
  return {
    one,
    two,
    async [Symbol.asyncDispose]() {
      await one.close()
      await two.close()
      file.close()
    },
  }
}

describe('sealed pages of several threads', () => {
  it('are sealed once for all of them, kept over a restart, and emptied for all when the feed changes (P9, D17)', async () => {
    using folder = temporaryFolder()
    const events = await countingStore()
    const size = () => statSync(join(folder.path, 'sealed-pages')).size
    const open = () => twoThreads(events, folder.path, { memoryBytes: 0 })

    const first = open()
    await untilSealed(events, first.one, page(1))
    await told()
    const sealedByOne = events.reads()
    await untilSealed(events, first.two, page(1))
    assert.equal(events.reads(), sealedByOne, 'what one has sealed, the other need not')
    await untilSealed(events, first.two, page(2))
    await untilSealed(events, first.one, page(2))
    const full = size()
    await first[Symbol.asyncDispose]()

    const second = open()
    const before = events.reads()
    for (const reader of [second.one, second.two]) {
      for (const number of [1, 2]) assert.equal(await textOf(reader, page(number)), expected(number))
    }
    assert.equal(events.reads(), before, 'nothing was asked of the store after a restart')

    await untilSealed(events, second.one, page(1, 1))
    await untilSealed(events, second.two, page(1, 1))
    assert.ok(size() < full, 'what belonged to an earlier revision has left the disk')
    for (let round = 0; round < 20; round += 1) {
      const revision = 2 + round
      await Promise.all(
        [second.one, second.two].map((reader) => untilSealed(events, reader, page(2, revision))),
      )
    }
    await second[Symbol.asyncDispose]()
  })

  it('are whole on one thread, in its memory too, when another has emptied the file (P9)', async () => {
    using folder = temporaryFolder()
    const events = await countingStore()
    await using threads = twoThreads(events, folder.path, { memoryBytes: 2 ** 24 })
    const { one, two } = threads
    const tenantId = '20000000-0000-4000-8000-000000000000'
    await untilSealed(events, one, page(1))
    await untilSealed(events, two, page(1))
    await untilSealed(events, one, page(2, 0, tenantId))
    await untilSealed(events, one, page(2, 1, tenantId))
    const whole = page(1)
    const part = { ...whole, range: { ...whole.range, first: 26, count: 25 } }
    const text = items.slice(25, 50).join(',')
    assert.equal(
      await textOf(two, part),
      `{"items":[${text}],"page":1,"pageSize":100,"availableCount":200,"totalPages":2}`,
    )
  })

  it('come from the store when their file or its disk is full, and are not made for nothing by any thread (P9)', async () => {
    for (const [fileBytes, file] of [
      [1, undefined],
      [2 ** 24, '/dev/full'],
    ] as const) {
      using folder = temporaryFolder()
      const path = join(folder.path, 'sealed-pages')
      if (file !== undefined) symlinkSync(file, path)
      const events = await countingStore()
      await using threads = twoThreads(events, folder.path, { fileBytes })
      const { one, two } = threads
      assert.equal(await textOf(one, page(1)), expected(1))
      // One of them makes a segment, and both are told that it did not fit.
      await new Promise((resolve) => setTimeout(resolve, 50))
      const before = events.reads()
      for (let round = 0; round < 5; round += 1) {
        for (const reader of [one, two]) assert.equal(await textOf(reader, page(1)), expected(1))
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assert.equal(events.reads() - before, 1_000)
    }
  })

  it('of an earlier state leave the disk when a thread is asked for the feed, whichever thread made them, and when (D13, D17)', async () => {
    using folder = temporaryFolder()
    const events = await countingStore()
    const path = join(folder.path, 'sealed-pages')
    const isOnDisk = (revision: number) => readFileSync(path).includes(`epoch/${revision}`)
    await using threads = twoThreads(events, folder.path, {})
    const { one, two } = threads
    await untilSealed(events, one, page(1))
    await until(() => isOnDisk(0))
    // This thread has not been asked for the feed before.
    await textOf(two, page(1, 1))
    await until(() => !isOnDisk(0))

    await untilSealed(events, two, page(1, 1))
    // An answer begun before the change, say, is late.
    await untilSealed(events, one, page(2))
    await untilSealed(events, two, page(1, 1))
    // What the same thread seals after it is on the disk: so would that be, were it not too late for it.
    await untilSealed(events, one, page(2, 1))
    await until(() => isOnDisk(1))
    assert.ok(!isOnDisk(0))
  })

  it('are emptied once when the feed changes, not once by each thread (D17)', async () => {
    using folder = temporaryFolder()
    const events = await countingStore()
    await using threads = twoThreads(events, folder.path, {})
    const { one, two } = threads
    for (const reader of [one, two]) await untilSealed(events, reader, page(1))
    await untilSealed(events, one, page(1, 1))
    await told()
    const before = events.reads()
    for (const reader of [two, one]) assert.equal(await textOf(reader, page(1, 1)), expected(1))
    assert.equal(events.reads(), before)
  })
})
