/** The port's part for events, on a file: read on this thread, appended by the writer's. */
import type { ChangeCounts, Watchers } from '../watchers.ts'
import type { StoreGuard } from '../../sql/guarded.ts'
import { recordedReads, shownNumbers } from '../shown-numbers.ts'
import type { ShowingReads } from '../shown-numbers.ts'
import type { EventStore, Head } from '../event-log.ts'
import type { FeedKey } from '../feed-key.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { countsReader, newestReader, tallier } from './read/counts.ts'
import { earlierFinder, latestFinder, subjectPositionsReader, subjectsReader } from './read/positions.ts'
import { liveReader } from './read/live-subjects.ts'
import { feedReader, headReader, versionsReader, versionsTotalReader } from './feed-row.ts'
import { afterReader } from './read/read-after.ts'
import { eventReader, latestReader, positionReader, subjectReader } from './read/read-event.ts'
import { rangeMeasurer, rangeReader } from './read/read-range.ts'
import { appendThrough, previewer } from './append/append-messages.ts'
import type { AppendWrites, PreviewWrites } from './append/append-messages.ts'
import type { OpenWindowLocator } from './read/locate.ts'
import type { OnWriter } from '../../sql/sqlite.ts'

interface FileEventsParts {
  readonly db: Connection
  readonly writer: OnWriter<AppendWrites & PreviewWrites>
  readonly changes: ChangeCounts
  readonly locator: OpenWindowLocator
  readonly guard: StoreGuard
  readonly watching: Watchers
}

export function fileEvents(parts: FileEventsParts): EventStore {
  const { db, writer, changes, watching } = parts
  const { guarded, guardedAtOnce } = parts.guard
  const shown = shownNumbers(changes)
  const readRange = rangeReader(db)
  const measureRange = rangeMeasurer(db)
  const positionOf = positionReader(db)
  const latestPositions = latestFinder(db)
  const liveSubjects = liveReader(db)
  const earlierPositions = earlierFinder(db)
  const versions = versionsReader(db)
  const versionsTotal = versionsTotalReader(db)
  const tally = tallier(db)
  const subjectPositions = subjectPositionsReader(db)
  const subjectsIn = subjectsReader(db)
  const counts = countsReader(db)
  const preview = previewer(writer)
  return {
    appendsAtOnce: 1,
    append: (batches) =>
      guarded(async () => {
        const outcomes = await appendThrough(writer, batches)
        shown.recordAppended(batches, outcomes)
        return watching.notifyAppended(batches, outcomes)
      }),
    preview: (batch) =>
      guarded(async () => {
        const outcome = await preview(batch)
        shown.recordPreviewed(batch, outcome)
        return outcome
      }),
    ...recordedReads(showingReads(parts), shown),
    subjectPositions: (query) => guarded(() => subjectPositions(query)),
    subjectsIn: (query) => guarded(() => subjectsIn(query)),
    tally: (query) => guarded(() => tally(query)),
    readRange: (range) => guarded(() => readRange(range)),
    readRangeWithin: (range, maxBytes) =>
      guarded(() => {
        const bytes = measureRange(range).reduce((sum, length) => sum + length, 0)
        return bytes > maxBytes ? undefined : readRange(range)
      }),
    measureRange: (range) => guarded(() => measureRange(range)),
    latestPositions: (query) => guarded(() => latestPositions(query)),
    liveSubjects: (query) => guarded(() => liveSubjects(query)),
    earlierPositions: (query) => guarded(() => earlierPositions(query)),
    positionOf: (key, id) => guardedAtOnce(() => positionOf(key, id)),
    versions: (keys) => guarded(() => versions(keys)),
    versionsTotal: () => guarded(() => versionsTotal()),
    counts: (tenantId) => guarded(() => counts(tenantId)),
    watch: (listener) => watching.watch(listener),
    changeCount: (key) => changes.of(key),
    settledLater: () => parts.locator.settledLater(),
  }
}

function showingReads({ db, locator, guard: { guarded } }: FileEventsParts): ShowingReads {
  const readEvent = eventReader(db)
  const readAfter = afterReader(db)
  const readLatest = latestReader(db)
  const readNewest = newestReader(db)
  const readSubject = subjectReader(db)
  const feedOf = feedReader(db)
  const headOf = headReader(db)
  const head = (key: FeedKey): Head | undefined => {
    const feed = feedOf(key)
    return feed && headOf(feed)
  }
  const heads = db.transaction((keys: readonly FeedKey[]) => keys.map(head))
  return {
    locate: (query) => guarded(() => locator.locate(query)),
    head: (key) => guarded(() => head(key)),
    heads: (keys) => guarded(() => heads(keys)),
    readEvent: (key, id, branches) => guarded(() => readEvent(key, id, branches)),
    readAfter: (query) => guarded(() => readAfter(query)),
    readNewest: (query) => guarded(() => readNewest(query)),
    readLatest: (key, subjectId, branches, upTo) => guarded(() => readLatest(key, subjectId, branches, upTo)),
    readSubject: (query) => guarded(() => readSubject(query)),
  }
}
