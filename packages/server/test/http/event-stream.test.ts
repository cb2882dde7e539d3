/** What a stream sends, and when: one piece at a time, and none that its reader has not made room for (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { EndController } from '../../src/runtime/end-signal.ts'
import type { FeedFollower } from '../../src/live/tail.ts'
import { sendEventStream } from '../../src/live/event-stream.ts'
import type { StreamReading } from '../../src/live/event-stream.ts'
import { eventsPiece } from '../../src/live/stream-pieces.ts'
import type { LiveOut, LivePiece } from '../../src/http/live-piece.ts'
import type { Head, StoredEvent } from '../../src/events/event-log.ts'
import { until } from '../support/until.ts'

const eventOf = (sequenceNumber: number): StoredEvent => ({
  sequenceNumber,
  json: Buffer.from(`{"sequenceNumber":${sequenceNumber}}`),
})

interface Staged {
  readonly takesAtOnce?: boolean
  readonly markEveryMs?: number
  /** Whether an event is for the reader. */
  readonly isOf?: (sequenceNumber: number) => boolean
  /** What each read waits for. */
  readonly held?: Promise<void>
}

/** A feed, and a connection that takes each piece at once or when it is told to. */
function stage(
  test: TestContext,
  { takesAtOnce = true, markEveryMs = 60_000, isOf = () => true, held }: Staged = {},
) {
  let head: Head = {
    position: 0,
    sequenceNumber: 0,
    created: undefined,
    epoch: 'e',
    revision: 0,
    thinned: 0,
  }
  let listener = (): void => undefined
  let taken: (() => void) | undefined
  let failing: Error | undefined
  const written: string[] = []
  const delivered: number[] = []
  const noted: (readonly [number, number])[] = []
  const ended: unknown[] = []
  const over = new EndController()
  const follower: FeedFollower = {
    get known() {
      return head
    },
    onChange: (given) => (listener = given),
    head: () => Promise.resolve(head),
    moved: () => Promise.resolve(),
    read: () => assert.fail('the stream is given its own reads'),
    stop: () => undefined,
  }
  const out: LiveOut = {
    write({ bytes }: LivePiece, done: () => void): boolean {
      assert.equal(taken, undefined, 'the piece before has not been taken')
      written.push(Buffer.from(bytes).toString())
      if (takesAtOnce) return true
      taken = done
      return false
    },
    end: () => void ended.push('end'),
    fail: (error) => void ended.push(error),
  }
  let reads = 0
  function read(after: number): StreamReading | Promise<StreamReading> {
    reads += 1
    return held === undefined ? readNow(after) : held.then(() => readNow(after))
  }
  function readNow(after: number): StreamReading {
    if (failing !== undefined) throw failing
    const numbers = Array.from({ length: head.sequenceNumber - after }, (_, index) => after + 1 + index)
    const events = numbers.filter(isOf).map(eventOf)
    const piece = events.length === 0 ? undefined : eventsPiece(head.epoch, events)
    return { events, committedMs: events[0]?.sequenceNumber, piece, through: head.sequenceNumber }
  }
  const stop = sendEventStream(
    {
      follower,
      head,
      after: 0,
      markEveryMs,
      endsMs: Infinity,
      over,
      read,
      onDelivered: (ms) => void delivered.push(ms),
      onTaken: (after, through) => void noted.push([after, through]),
    },
    out,
  )
  test.after(stop)
  return {
    written,
    delivered,
    noted,
    ended,
    over,
    stop,
    reads: () => reads,
    publish: (count = 1): void => {
      head = { ...head, sequenceNumber: head.sequenceNumber + count }
      listener()
    },
    begin: (epoch: string): void => {
      head = { ...head, epoch }
      listener()
    },
    fail: (error: Error) => void (failing = error),
    /** The connection has taken what was written; whether there was anything. */
    take: (): boolean => {
      const done = taken
      taken = undefined
      done?.()
      return done !== undefined
    },
    /** The beginning and the first mark have been taken. */
    hasBegun: () => until(() => written.length === 2 || !takesAtOnce),
  }
}

const numbersIn = (texts: readonly string[]): readonly number[] =>
  texts.flatMap((text) =>
    [...text.matchAll(/^data: \{"sequenceNumber":(\d+)/gm)].map(([, digits]) => Number(digits)),
  )

describe('a stream of events', () => {
  it('sends each event once and in order as it is published, and notes what was taken (L1)', async (test) => {
    const { written, noted, delivered, hasBegun, publish } = stage(test)
    await hasBegun()
    await until(() => (publish(), numbersIn(written).length > 0))
    for (let round = 0; round < 5; round += 1) publish(round + 1)
    const numbers = numbersIn(written)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    )
    assert.equal(noted.at(-1)?.[1], numbers.length)
    assert.ok(delivered.length > 0)
  })

  it('writes one piece and waits until that is taken; what comes meanwhile is in the next one (L3)', async (test) => {
    const { written, delivered, noted, publish, take } = stage(test, { takesAtOnce: false })
    await until(() => take() && written.length === 2, { what: 'the first mark' })
    await until(() => (publish(), written.length === 3), { what: 'the first piece' })
    while (take());
    const before = { pieces: written.length, delivered: delivered.length, noted: noted.length }
    publish()
    for (let round = 0; round < 50; round += 1) publish()
    assert.equal(written.length, before.pieces + 1)
    assert.deepEqual(
      [delivered.length, noted.length],
      [before.delivered, before.noted],
      'nothing of it was taken',
    )
    assert.ok(take())
    assert.equal(written.length, before.pieces + 2)
    assert.deepEqual([delivered.length, noted.length], [before.delivered + 1, before.noted + 1])
    assert.ok(take())
    assert.deepEqual([delivered.length, noted.length], [before.delivered + 2, before.noted + 2])
    const numbers = numbersIn(written)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    )
  })

  it('notes that there was nothing new once its reader has the mark that says so, and not before (PROTOCOL §14.4)', async (test) => {
    const { written, noted, take, over } = stage(test, { takesAtOnce: false, markEveryMs: 20 })
    await until(() => take() && written.length === 2, { what: 'the first mark' })
    await until(() => written.length === 3, { what: 'the next mark' })
    assert.deepEqual(noted, [])
    assert.ok(take())
    assert.deepEqual(noted, [[0, 0]])
    over.abort()
  })

  it('goes past what is not for its reader, and notes that it did (PROTOCOL §13)', async (test) => {
    const { written, noted, hasBegun, publish } = stage(test, { isOf: (number) => number % 10 === 0 })
    await hasBegun()
    await until(() => (publish(), numbersIn(written).includes(10)), { everyMs: 1 })
    assert.deepEqual(numbersIn(written), [10])
    assert.deepEqual(
      noted.map(([, through]) => through).slice(0, 10),
      Array.from({ length: 10 }, (_, index) => index + 1),
    )
  })

  it('ends at once when it is over, without anything else to send (PROTOCOL §13.2, D11)', async (test) => {
    const { written, ended, over, hasBegun } = stage(test)
    await hasBegun()
    // It rests once it has found nothing to read.
    await nextTurn()
    over.abort()
    assert.deepEqual(ended, ['end'])
    assert.equal(written.length, 2)
  })

  it('ends when it is over while it reads or its connection is busy, with none of what was read (D11)', async (test) => {
    const gate = Promise.withResolvers<void>()
    const reading = stage(test, { held: gate.promise })
    await reading.hasBegun()
    await until(() => (reading.publish(), reading.reads() === 1), { what: 'a read' })
    reading.over.abort()
    gate.resolve()
    await until(() => reading.ended.length > 0, { what: 'the end' })
    assert.deepEqual([reading.ended, reading.written.length], [['end'], 2])

    const busy = stage(test, { takesAtOnce: false })
    await until(() => busy.take() && busy.written.length === 2, { what: 'the first mark' })
    busy.publish()
    busy.over.abort()
    busy.take()
    await until(() => busy.ended.length > 0, { what: 'the end' })
    assert.deepEqual([busy.ended, busy.written.length], [['end'], 2])
  })

  it('sends nothing that was read when its epoch had ended before, and says reset instead (D13, L1)', async (test) => {
    const gate = Promise.withResolvers<void>()
    const { written, ended, noted, reads, hasBegun, publish, begin } = stage(test, { held: gate.promise })
    await hasBegun()
    await until(() => (publish(), reads() === 1), { what: 'a read' })
    begin('f')
    publish()
    gate.resolve()
    await until(() => ended.length > 0, { what: 'the end' })
    assert.deepEqual(numbersIn(written), [])
    assert.deepEqual(written.slice(2), ['event: reset\ndata: {"epoch":"f"}\n\n'])
    assert.deepEqual(noted, [])
  })

  it('writes nothing after it was stopped, over or reset, and says the failure of a read (L2, L1)', async (test) => {
    const stopped = stage(test)
    await stopped.hasBegun()
    stopped.stop()
    stopped.publish()
    assert.equal(stopped.written.length, 2)
    assert.deepEqual(stopped.ended, [])

    const over = stage(test)
    await over.hasBegun()
    await until(() => (over.publish(), over.written.length > 2))
    over.over.abort()
    const { length } = over.written
    over.publish()
    assert.equal(over.written.length, length)
    assert.deepEqual(over.ended, ['end'])

    const reset = stage(test)
    await reset.hasBegun()
    await until(() => (reset.publish(), reset.written.length > 2))
    reset.begin('f')
    reset.publish()
    await until(() => reset.ended.length > 0)
    assert.equal(reset.written.at(-1), 'event: reset\ndata: {"epoch":"f"}\n\n')
    assert.deepEqual(reset.ended, ['end'])

    const failing = stage(test)
    await failing.hasBegun()
    const error = new Error('the store is away')
    failing.fail(error)
    await until(() => (failing.publish(), failing.ended.length > 0))
    failing.publish()
    assert.deepEqual(failing.ended, [error])
    assert.equal(failing.written.length, 2)
  })
})
