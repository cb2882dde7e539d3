/** The port's part for events, on a database. */
import type { Guard } from '../../sql/guarded.ts'
import { recordedReads } from '../shown-numbers.ts'
import { feedName } from '../feed-key.ts'
import type { EventStore } from '../event-log.ts'
import type { FeedKey } from '../feed-key.ts'
import { appendedFeeds } from '../watchers.ts'
import { readsOf } from '../../sql/postgres/connection.ts'
import type { Reads } from '../../sql/postgres/connection.ts'
import { readCounts, readNewest, tally } from './read/counts.ts'
import type { LogParts, InFeedQueues } from './log-parts.ts'
import {
  earlierPositions,
  latestPositions,
  positionFinder,
  readSubjectPositions,
  readSubjects,
} from './read/positions.ts'
import { readLiveSubjects } from './read/live-subjects.ts'
import { openWindowLocator, readHead, readHeads, readVersions, readVersionsTotal } from './read/locate.ts'
import { readAfter } from './read/read-after.ts'
import { readEvent, readLatest, readSubject } from './read/read-event.ts'
import { measureRange, readRange, readRangeWithin } from './read/read-range.ts'

/** Not the name of any feed. Dry runs follow each other, so that they take one of the connections for writing, and not all. */
const previews = 'previews'

interface DatabaseEventsParts extends LogParts {
  readonly appendsAtOnce: number
  readonly inFeedQueues: InFeedQueues
  readonly guarded: Guard
  readonly isClosed: () => boolean
}

export function databaseEvents(parts: DatabaseEventsParts): EventStore {
  const { database, shown, appending, watching, changes, guarded, inFeedQueues, recent } = parts
  const of = (key: FeedKey): Reads => readsOf(database, key)
  /** Heads of one tenant take its turns. */
  const ofAll = ([first, ...others]: readonly FeedKey[]): Reads =>
    first === undefined || others.some(({ tenantId }) => tenantId !== first.tenantId) ? database : of(first)
  const locate = openWindowLocator(database, parts)
  const findPosition = positionFinder(database)
  const listen = (): void => {
    if (!parts.isClosed()) changes.listen()
  }
  const reads = recordedReads(
    {
      locate: (query) => guarded(() => locate(query)),
      head: (key) => guarded(() => readHead(of(key), key)),
      heads: (keys) => guarded(() => readHeads(ofAll(keys), keys)),
      readEvent: (key, id, branches) => guarded(() => readEvent(of(key), key, id, branches)),
      readAfter: (query) => guarded(async () => recent.after(query) ?? readAfter(of(query.key), query)),
      readNewest: (query) => guarded(() => readNewest(of(query.key), query)),
      readLatest: (key, subjectId, branches, upTo) =>
        guarded(() => readLatest(of(key), key, subjectId, branches, upTo)),
      readSubject: (query) => guarded(() => readSubject(of(query.key), query)),
    },
    shown,
  )
  return {
    appendsAtOnce: parts.appendsAtOnce,
    append: (batches, lockWaitMs) =>
      guarded(async () => {
        const names = batches.map(({ key }) => feedName(key))
        const outcomes = await inFeedQueues(names, () => appending.append(batches, lockWaitMs))
        shown.recordAppended(batches, outcomes)
        changes.send(appendedFeeds(batches, outcomes))
        return watching.notifyAppended(batches, outcomes)
      }),
    preview: (batch) =>
      guarded(async () => {
        const outcome = await inFeedQueues([previews], () => appending.preview(batch))
        shown.recordPreviewed(batch, outcome)
        return outcome
      }),
    ...reads,
    subjectPositions: (query) => guarded(() => readSubjectPositions(of(query.key), query)),
    subjectsIn: (query) => guarded(() => readSubjects(of(query.key), query)),
    tally: (query) => guarded(() => tally(of(query.key), query)),
    readRange: (range) => guarded(async () => recent.range(range) ?? readRange(of(range.key), range)),
    readRangeWithin: (range, maxBytes) =>
      guarded(async () => recent.range(range, maxBytes) ?? readRangeWithin(of(range.key), range, maxBytes)),
    measureRange: (range) => guarded(() => measureRange(of(range.key), range)),
    latestPositions: (query) => guarded(() => latestPositions(of(query.key), query)),
    liveSubjects: (query) => guarded(() => readLiveSubjects(of(query.key), query)),
    earlierPositions: (query) => guarded(() => earlierPositions(of(query.key), query)),
    positionOf: (key, id) => guarded(() => findPosition(key, id)),
    versions: (keys) => guarded(() => readVersions(database, keys)),
    versionsTotal: () => guarded(() => readVersionsTotal(database)),
    counts: (tenantId) => guarded(() => readCounts(database, tenantId)),
    watch(listener) {
      listen()
      return watching.watch(listener)
    },
    changeCount(key) {
      listen()
      return watching.changeCount(key)
    },
  }
}
