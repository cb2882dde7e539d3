/** The answer of long-polls that wait for the same events. The first reader makes its bytes, and the others send the same ones. */
import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { FeedFollower } from './tail.ts'
import type { BufferedRead } from './broadcast-buffer.ts'
import { representCopies } from '../reading/representation/representation.ts'
import { lengthOf, runPieces } from '../reading/run.ts'
import type { EventRun, RunQuery } from '../reading/run.ts'
import { disclosedEvents } from '../privacy/disclosure/disclosure.ts'
import type { Disclosure } from '../privacy/disclosure/disclosure.ts'
import { ofTypes } from '../reading/representation/type-filter.ts'
import type { Head, StoredEvent } from '../events/event-log.ts'
import { gzipLevel, minGzipBytes } from '../reading/routes/answers.ts'
import type { RunContext, RunRequest } from '../reading/routes/answers.ts'
import { sharedPieces } from './stream-pieces.ts'

/** The most that one answer has of the new events; the next request gets the rest. */
const mostBytes = 2 ** 20

export interface SharedRun {
  readonly run: EventRun
  /** When the oldest of its events was committed, in milliseconds since 1970; `undefined`: it has none. */
  readonly committedMs: number | undefined
  readonly sent: Disclosure | undefined
  /** The bytes to send. All readers of this run share them, so nobody may change or free them. */
  readonly body: (isCompressed: boolean) => Bytes | Promise<Bytes>
}

interface Bytes {
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

const shared = sharedPieces<SharedRun>(({ run }) => lengthOf(run.events))

/** Reads what is new after the number from the tail. `head`: the feed's head as the tail last saw it. */
export function readSharedRun(
  { formOf }: Pick<RunContext, 'formOf'>,
  { access, key }: RunRequest,
  follower: FeedFollower,
  head: Head,
  { view, after, limit, types }: RunQuery,
): SharedRun | Promise<SharedRun> {
  const form = formOf(access, key.feed)
  const made = (reading: BufferedRead): SharedRun => {
    const passing = ofTypes(reading.events, types)
    const events = passing.slice(0, limit)
    const last = events.at(-1)?.sequenceNumber ?? after
    const next = events.length < passing.length ? last : reading.through
    // The tape may have got on meanwhile, in the same epoch.
    const sequenceNumber = Math.max(head.sequenceNumber, next)
    const run: EventRun = { kind: 'run', events, next, head: { ...head, sequenceNumber } }
    return {
      run,
      committedMs: committedMs(events),
      sent: disclosedEvents(key, events),
      body: bodyOf(() => Buffer.concat(runPieces({ ...run, events: representCopies(events, form) }))),
    }
  }
  if (after >= head.sequenceNumber) return made({ events: [], through: after })
  const sharedOf = (reading: BufferedRead): SharedRun =>
    shared.of(reading.events, [form, types, limit, head, reading.through], () => made(reading))
  const reading = follower.read(view, after, mostBytes)
  return reading instanceof Promise ? reading.then(sharedOf) : sharedOf(reading)
}

const gzipAsync = promisify(gzip)

/** Makes the plain and the compressed bytes on first use. */
function bodyOf(make: () => Uint8Array): SharedRun['body'] {
  let plain: Bytes | undefined
  let compressed: Promise<Bytes> | undefined
  return (isCompressed) => {
    const made = (plain ??= { bytes: make(), isCompressed: false })
    if (!isCompressed || made.bytes.byteLength < minGzipBytes) return made
    compressed ??= gzipAsync(made.bytes, { level: gzipLevel }).then((bytes) => ({
      bytes,
      isCompressed: true,
    }))
    return compressed
  }
}

/** `2026-01-31T09:30:00.0000000"}` ends every event (events/event-json.ts). */
const endLength = '2026-01-31T09:30:00.0000000"}'.length
const millisecondLength = '2026-01-31T09:30:00.000'.length

/**
 * When the oldest of these events was committed, in milliseconds since 1970, according to its `createdDate`. That may be ahead of the clock
 * after a crash, and comes from another clock if another node stamped the event. `undefined` without events.
 */
export function committedMs(events: readonly Pick<StoredEvent, 'json'>[]): number | undefined {
  const [oldest] = events
  if (oldest === undefined) return undefined
  const { buffer, byteOffset, byteLength } = oldest.json
  const start = byteLength - endLength
  const created = Buffer.from(buffer, byteOffset, byteLength).toString(
    'latin1',
    start,
    start + millisecondLength,
  )
  return Date.parse(`${created}Z`)
}
