/** Each way to hold a connection or a session, and how it ends when its key loses a right (PROTOCOL §2.5). */
import { setTimeout as delay } from 'node:timers/promises'
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { sessionHeaders } from './console-page.ts'
import type { SignedIn } from './console-page.ts'
import { openStream } from './event-stream.ts'
import { call, problemOf } from './http-client.ts'
import type { Answer } from './http-client.ts'

export interface HeldPlace {
  readonly port: number
  readonly key: string
  readonly feed: FeedName
  /** The last number that the reader has. */
  readonly after: number
  /** A session with the key. */
  readonly session: Pick<SignedIn, 'cookie' | 'half'>
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Held {
  /** Resolves with how it ended: the code of the refusal, `no events`, or `cut off`; with events, these as text. */
  readonly ended: Promise<string>
  close(): void
}

type Reading = (place: HeldPlace, headers: Readonly<Record<string, string>>, root: string) => Promise<Held>

const stream: Reading = async ({ port, feed, after }, headers, root) => {
  const path = `${root}${feeds[feed].publishPath}/stream?after=${after}`
  const reader = await openStream({ port }, path, { headers })
  if (reader.status !== 200) throw new Error(`the stream was answered ${reader.status}`)
  const untilEnd = async (): Promise<string> => {
    await reader.until(({ hasEnded }) => hasEnded, 'the end of the stream')
    return reader.numbers().length === 0 ? 'cut off' : `events ${reader.numbers().join()}`
  }
  return { ended: untilEnd(), close: () => reader.close() }
}

const longPoll: Reading = ({ port, feed, after }, headers, root) =>
  asked(port, `${root}${feeds[feed].publishPath}?after=${after}&wait=30`, headers, 'items')

const headsWait: Reading = async ({ port }, headers, root) => {
  const { text } = await call({ port }, `${root}/v1/heads`, { headers })
  const { next }: { readonly next: string } = JSON.parse(text)
  return asked(port, `${root}/v1/heads?since=${next}&wait=30`, headers, 'heads')
}

/** Whose first piece is held back until everything else has ended. */
const snapshot: Reading = ({ port, feed }, headers, root) =>
  asked(port, `${root}${feeds[feed].publishPath}/snapshot`, headers, 'lines')

/** A request now and then, as the page makes them. */
const requests: Reading = async ({ port }, headers, root) => {
  let isClosed = false
  const untilRefused = async (): Promise<string> => {
    for (;;) {
      const answer = await call({ port }, `${root}/v1/admin/self`, { headers })
      if (answer.status !== 200 || isClosed) return endOf(answer, 'lines')
      await delay(20)
    }
  }
  return { ended: untilRefused(), close: () => (isClosed = true) }
}

/** Resolves at once: that the request waits is seen in the service. */
function asked(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  member: 'items' | 'heads' | 'lines',
): Promise<Held> {
  const leaving = new AbortController()
  const answer = call({ port }, path, { headers, signal: leaving.signal })
  const ended = answer.then(
    (given) => endOf(given, member),
    () => 'cut off',
  )
  return Promise.resolve({ ended, close: () => leaving.abort() })
}

function endOf(answer: Answer, member: 'items' | 'heads' | 'lines'): string {
  if (answer.status !== 200) return problemOf(answer).code
  if (member === 'lines') return answer.text
  const body: Readonly<Record<string, readonly unknown[]>> = JSON.parse(answer.text)
  return body[member]?.length === 0 ? 'no events' : answer.text
}

/** Resolves with its first answer, if that comes before the end. */
export type Way = (place: HeldPlace) => Promise<Held>

const withKey =
  (reading: Reading): Way =>
  (place) =>
    reading(place, { ...place.headers, 'x-api-key': place.key }, '')

const inSession =
  (reading: Reading): Way =>
  (place) =>
    reading(place, { ...place.headers, ...sessionHeaders(place.session) }, '/console/api')

export const ways = {
  'a stream': withKey(stream),
  'a long-poll': withKey(longPoll),
  'a wait for heads': withKey(headsWait),
  'a snapshot under way': withKey(snapshot),
  'requests in a session of the console': inSession(requests),
  'a stream in a session of the console': inSession(stream),
  'a long-poll in a session of the console': inSession(longPoll),
  'a snapshot in a session of the console': inSession(snapshot),
} as const satisfies Readonly<Record<string, Way>>

export type WayName = keyof typeof ways
