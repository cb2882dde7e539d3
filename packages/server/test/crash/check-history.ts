/** Looks through a store after its process was killed, and says in words everything that is not as promised. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { FeedEvent } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { list } from '../store/support/read-back.ts'
import { markOf } from './acknowledgements.ts'
import type { Acknowledgement } from './acknowledgements.ts'

export async function checkHistory(
  folder: string,
  acknowledged: readonly Acknowledgement[],
): Promise<readonly string[]> {
  const events = await readBack(folder)
  return [
    ...missing(events, acknowledged),
    ...misnumbered(events),
    ...halfStored(events),
    ...damaged(join(folder, 'property-events.db')),
  ]
}

async function readBack(folder: string): Promise<readonly FeedEvent[]> {
  await using store = await openStorage({ kind: 'sqlite', folder, create: false })
  return await list(store)
}

/** P7: every acknowledged event is there, under the number that was acknowledged. */
function missing(events: readonly FeedEvent[], acknowledged: readonly Acknowledgement[]): readonly string[] {
  const numberOf = new Map(events.map((event) => [event.id, event.sequenceNumber]))
  return acknowledged.flatMap(({ request, events }) =>
    events
      .filter(({ id, sequenceNumber }) => numberOf.get(id) !== sequenceNumber)
      .map(
        ({ id, sequenceNumber }) =>
          `request ${request}: ${sequenceNumber} was acknowledged, ${id} has ${numberOf.get(id)}`,
      ),
  )
}

/** P1, P3: no hole, no repeat, time rises. */
function misnumbered(events: readonly FeedEvent[]): readonly string[] {
  const faults = events.flatMap((event, index) => {
    const previous = events[index - 1]
    return [
      ...(event.sequenceNumber === index + 1
        ? []
        : [`place ${index + 1} holds number ${event.sequenceNumber}`]),
      ...(previous === undefined || previous.createdDate < event.createdDate
        ? []
        : [`the time of ${event.sequenceNumber} does not rise`]),
    ]
  })
  return new Set(events.map((event) => event.id)).size === events.length
    ? faults
    : [...faults, 'an id comes twice']
}

/** P6: the events of a request stand together, in order, and all of them. */
function halfStored(events: readonly FeedEvent[]): readonly string[] {
  const faults: string[] = []
  for (let at = 0; at < events.length;) {
    const { request, size } = markOf(events[at]?.payload ?? '')
    const run = events.slice(at, at + size).map((event) => markOf(event.payload))
    const whole =
      run.length === size && run.every((mark, index) => mark.request === request && mark.index === index)
    if (!whole) faults.push(`request ${request} is stored in part, from number ${at + 1}`)
    at += whole ? size : 1
  }
  return faults
}

function damaged(file: string): readonly string[] {
  const db = new Database(file)
  try {
    const findings = db.prepare<[], string>('PRAGMA integrity_check').pluck().all()
    const strangers = db
      .prepare<[], number>(
        'SELECT count(*) FROM feed WHERE last_position <> (SELECT count(*) FROM event WHERE event.feed_no = feed.feed_no)',
      )
      .pluck()
      .get()
    return [
      ...findings.filter((finding) => finding !== 'ok'),
      ...(strangers === 0 ? [] : ['a counter does not agree with its events']),
    ]
  } finally {
    db.close()
  }
}
