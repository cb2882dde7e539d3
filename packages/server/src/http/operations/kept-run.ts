/** Runs of what has just been told to all who wait: those who asked the same get the same bytes, which are laid out once. */
import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { FeedFollower } from '../../feed/live-tail.ts'
import type { TapeReading } from '../../feed/live-tape.ts'
import { formedCopies } from '../../feed/reader-form.ts'
import { runPieces } from '../../feed/read-run.ts'
import type { EventRun, RunQuery } from '../../feed/read-run.ts'
import { sentEvents } from '../../feed/sent.ts'
import type { Sent } from '../../feed/sent.ts'
import { committedMs } from '../../feed/told-delay.ts'
import { ofTypes } from '../../feed/type-filter.ts'
import type { Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { gzipLevel, minGzipBytes } from './answers.ts'
import type { RunAsked } from './run-answer.ts'
import { sharedPieces } from './shared-pieces.ts'

/** Of what has just come, so much is answered at once; the rest is asked for next. */
const mostBytes = 2 ** 20

export interface KeptRun {
  readonly run: EventRun
  /** When the oldest of its events was committed, in milliseconds since 1970; `undefined`: it has none. */
  readonly committedMs: number | undefined
  readonly sent: Sent | undefined
  /** As it is sent. Belongs to all who have asked the same. */
  readonly body: (isCompressed: boolean) => Bytes | Promise<Bytes>
}

interface Bytes {
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

const shared = sharedPieces<KeptRun>(({ run }) =>
  run.events.reduce((sum, { json }) => sum + json.byteLength, 0),
)

/** What is new after the number; `head`: of the feed, where it was looked at last. */
export function readKept(
  { formOf }: Pick<HttpContext, 'formOf'>,
  { access, key }: RunAsked,
  follower: FeedFollower,
  head: Head,
  { view, after, limit, types }: RunQuery,
): KeptRun | Promise<KeptRun> {
  const form = formOf(access, key.feed)
  const made = (reading: TapeReading): KeptRun => {
    const passing = ofTypes(reading.events, types)
    const events = passing.slice(0, limit)
    const last = events.at(-1)?.sequenceNumber ?? after
    const next = events.length < passing.length ? last : reading.through
    const headNumber = Math.max(head.sequenceNumber, next)
    const run: EventRun = { kind: 'run', events, next, headNumber, head }
    return {
      run,
      committedMs: committedMs(events),
      sent: sentEvents(key, events),
      body: bodyOf(() => Buffer.concat(runPieces({ ...run, events: formedCopies(events, form) }))),
    }
  }
  if (after >= head.sequenceNumber) return made({ events: [], through: after })
  const sharedOf = (reading: TapeReading): KeptRun =>
    shared.of(reading.events, [form, types, limit, head, reading.through], () => made(reading))
  const reading = follower.read(view, after, mostBytes)
  return reading instanceof Promise ? reading.then(sharedOf) : sharedOf(reading)
}

const gzipAsync = promisify(gzip)

/** Made when it is first asked for, plain and compressed. */
function bodyOf(make: () => Uint8Array): KeptRun['body'] {
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
