/** Writes to a store: one connection, and one question at a time, on whichever thread it runs. */
import type { MessagePort } from 'node:worker_threads'
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { writeNamed } from '../../../sql/database.ts'
import { auditRows } from '../../../audit/changes.ts'
import { insertAudit } from '../../../audit/store.ts'
import { statementRunner, writeRunner } from '../../../sql/sqlite.ts'
import type { NoteChanges } from '../../../sql/sqlite.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import '../../stores.ts'
import { appendedFeeds, changeCounts } from '../../../events/watchers.ts'
import { readClock } from '../../../runtime/clock.ts'
import { appender } from '../../../events/sqlite/append/append.ts'
import { branchViewWrites } from '../../../events/sqlite/branch-views.ts'
import { commitLine } from '../../../events/sqlite/commit-line.ts'
import { connectForWriting } from '../../../sql/sqlite/connection.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { erasureWrites } from '../reduce/erasure-writes.ts'
import { recordImporter } from '../copy/import-records.ts'
import { readSettings, storedReservation } from '../meta.ts'
import { writeOutcomes, readBatches } from '../../../events/sqlite/append/append-messages.ts'
import { restrictionWrites } from '../reduce/restriction-writes.ts'
import { retentionWrites } from '../reduce/retention.ts'
import { acceptHistory, startEpoch } from '../epochs.ts'
import type {
  Durability,
  WriterOptions,
  WriterReply,
  WriterRequest,
  WriterVerbs,
  WriterFailure,
} from './writer-verbs.ts'
import { skippedIdsEnd, skippedIdsPerStep } from '../../../events/skipped-ids.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import { failureOf } from '../../../sql/sqlite/failure.ts'

/** The writer of a store, once its connection is open. */
export interface OpenWriter {
  /** Answers the questions that come through the port. */
  answer(port: MessagePort): void
}

/** Opens the connection. `onClosed`: called when the connection has closed on request, with its port. */
export function openForWriting(options: WriterOptions, onClosed: () => void): OpenWriter {
  const verbs = verbsOf(options)
  return {
    answer(port) {
      const answerNext = oneAtATime((request: WriterRequest) => {
        const send = (reply: WriterReply): void => {
          port.postMessage(reply)
          const [, verb] = request
          if (verb !== 'close') return
          port.close()
          onClosed()
        }
        const reply = replyTo(verbs, request, options.file)
        return reply instanceof Promise ? reply.then(send) : send(reply)
      })
      port.on('message', answerNext)
    },
  }
}

/** Throws if a commit would not be on the disk. */
function durabilityOf(db: Connection): Durability {
  const durability: Durability = {
    journalMode: String(db.pragma('journal_mode', { simple: true })),
    synchronous: Number(db.pragma('synchronous', { simple: true })),
  }
  if (durability.journalMode !== 'wal' || durability.synchronous !== 2) {
    throw new Error(`commits would not be durable: ${JSON.stringify(durability)}`)
  }
  return durability
}

function verbsOf(options: WriterOptions): WriterVerbs {
  const db = connectForWriting(options)
  const { clock, overrideClockCheck } = options
  const durability = durabilityOf(db)
  const changes = changeCounts(options.changes)
  const line = commitLine(changes, options.line)
  const appending = appender(db, {
    catalogue: readSettings(db).catalogue,
    clock,
    overrideClockCheck,
  })
  const note = changeNoter(db, clock)
  const importer = onFirstUse(() => recordImporter(db, note))
  const branchViews = onFirstUse(() => branchViewWrites(db, clock))
  const erasures = onFirstUse(() => erasureWrites(db, clock, { appending, note, line, changes }))
  const restrictions = onFirstUse(() => restrictionWrites(db, clock, { appending, note, line, changes }))
  const retention = onFirstUse(() => retentionWrites(db, clock, changes))
  const forgetSkippedIds = skippedIdRemover(db)
  const reservation = storedReservation(db, clock)
  return {
    ...featureWrites(db, clock, note, (key) => changes.raise(key)),
    beginBranchSets: (...given) => branchViews().beginBranchSets(...given),
    stepBranchSet: (...given) => branchViews().stepBranchSet(...given),
    beginErasure: (...given) => erasures().beginErasure(...given),
    beginUnchangedErasure: (...given) => erasures().beginUnchangedErasure(...given),
    reduceErased: (...given) => erasures().reduceErased(...given),
    beginRestriction: (...given) => restrictions().beginRestriction(...given),
    liftRestriction: (...given) => restrictions().liftRestriction(...given),
    stepRestriction: (...given) => restrictions().stepRestriction(...given),
    thinEvents: (...given) => retention().thinEvents(...given),
    append(messages) {
      const batches = readBatches(messages)
      const append = (floor: Ticks) => appending.append(batches, floor)
      return writeOutcomes(line.commit(append, (outcomes) => appendedFeeds(batches, outcomes)))
    },
    preview: (batch) => appending.preview(batch),
    startEpoch(continueAfter, actor, feeds, webhooks) {
      startEpoch(db, note, continueAfter, actor, feeds, webhooks)
      changes.raise(undefined)
    },
    acceptHistory: (actor) => acceptHistory(db, note, actor),
    importRecords(records, actor) {
      line.commit(
        () => importer()(records, actor),
        () => [undefined],
      )
      for (const record of records) if (record.kind === 'whole') line.raiseFloor(record.reservedUntil ?? 0n)
    },
    forgetSkippedIds: () => forgetSkippedIds(readClock(clock)),
    reserveTime: () => reservation.reserve(),
    settled: () => undefined,
    durability: () => durability,
    // The last connection to close moves the WAL into the file. Requesting that here would wait for every reader, for example a backup,
    // and block all writing meanwhile.
    close() {
      try {
        reservation.giveBack(line.floor())
      } catch {
        // For example without room on the disk: then the next start stamps from the reserved time, at most 10 s ahead.
      }
      db.close()
    },
  }
}

/** What is used seldom, with its statements: preparing all of them took half of the time in which a store opens. */
function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function changeNoter(db: Connection, clock: SharedClock | undefined): NoteChanges {
  const run = statementRunner(db)
  return (changes, actor) => {
    if (changes.length > 0) run(insertAudit(auditRows(changes, actor, millisecondsOfTicks(readClock(clock)))))
  }
}

/** The writes that the features define. */
function featureWrites(...given: Parameters<typeof writeRunner>): Pick<WriterVerbs, 'write'> {
  const run = writeRunner(...given)
  return { write: (name, args) => run(writeNamed(name), args) }
}

/** Removes the oldest of the ids that may go, one step's worth, in one commit; returns how many. */
function skippedIdRemover(db: Connection): (now: Ticks) => number {
  const remove = db.prepare<[Ticks, number]>(
    `DELETE FROM event_id WHERE (feed_no, id) IN (
      SELECT feed_no, id FROM event_id INDEXED BY event_id_skipped WHERE skipped < ? ORDER BY skipped LIMIT ?
    )`,
  )
  return (now) => remove.run(skippedIdsEnd(now), skippedIdsPerStep).changes
}

/**
 * A write of a feature waits between its statements, and nothing may happen on its connection meanwhile: an event that was appended there
 * would be part of its commit, or be lost with it. What comes in waits its turn.
 */
function oneAtATime<T>(answer: (given: T) => void | Promise<void>): (given: T) => void {
  const waiting: T[] = []
  let isBusy = false
  const answerRest = async (first: Promise<void>): Promise<void> => {
    isBusy = true
    await first
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await answer(next)
    isBusy = false
  }
  return (given) => {
    if (isBusy) {
      waiting.push(given)
      return
    }
    const answered = answer(given)
    if (answered !== undefined) void answerRest(answered)
  }
}

function replyTo(
  verbs: WriterVerbs,
  [id, verb, args]: WriterRequest,
  file: string,
): WriterReply | Promise<WriterReply> {
  const beganMs = performance.now()
  const answered = (value: unknown): WriterReply => [id, performance.now() - beganMs, value]
  const failed = (error: unknown): WriterReply => [id, undefined, writerFailure(error, file)]
  try {
    const value: unknown = Reflect.apply(verbs[verb], verbs, args)
    return value instanceof Promise ? value.then(answered, failed) : answered(value)
  } catch (error) {
    return failed(error)
  }
}

function writerFailure(error: unknown, file: string): WriterFailure {
  const failure = failureOf(error, file)
  const { code, scope } =
    failure instanceof StorageFailure ? failure : new StorageFailure('storage_unavailable')
  const cause = failure.cause instanceof Error ? failure.cause : failure
  return { code, scope, cause: textOf(cause) }
}

function textOf(error: Error): string {
  return 'code' in error ? `${String(error.code)}: ${error.message}` : (error.stack ?? error.message)
}
