/** Writes to a store: one connection, and one question at a time, on whichever thread it runs. */
import type { MessagePort } from 'node:worker_threads'
import { writeNamed } from '../../../sql/database.ts'
import { changeNoter, writeRunner } from '../../../sql/sqlite.ts'
import '../../../store/stores.ts'
import { changeCounts } from '../../change-counts.ts'
import { readClock } from '../../../runtime/clock.ts'
import { appendedFeeds } from '../../watchers.ts'
import { oneAtATime, replyTo } from './answer-calls.ts'
import { appender } from '../append/append.ts'
import { branchViewWrites } from '../branch-views.ts'
import { commitLine } from '../commit-line.ts'
import { connectForWriting } from '../../../sql/sqlite/connection.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { erasureWrites } from '../reduce/erasure-writes.ts'
import { recordImporter } from '../../../store/sqlite/copy/import-records.ts'
import { readSettings } from '../../../store/sqlite/meta.ts'
import { packOutcomes, unpackBatches } from '../append/packed-append.ts'
import { restrictionWrites } from '../reduce/restriction-writes.ts'
import { retentionWrites } from '../reduce/retention.ts'
import { skippedIdRemover } from '../append/skipped-ids.ts'
import { acceptHistory, startEpoch } from '../../../store/sqlite/start-epoch.ts'
import { storedReservation } from '../../../store/sqlite/stored-reservation.ts'
import type { Durability, WriterOptions, WriterReply, WriterRequest, WriterVerbs } from './writer-verbs.ts'

/** The writer of a store, once its connection is open. */
export interface Writing {
  /** Answers the questions that come through the port. */
  answer(port: MessagePort): void
}

/** Opens the connection. `onClosed`: called when the connection has closed on request, with its port. */
export function openForWriting(options: WriterOptions, onClosed: () => void): Writing {
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
  const line = commitLine(options.line)
  const changes = changeCounts(options.changes)
  const appending = appender(db, {
    catalogue: readSettings(db).catalogue,
    clock,
    overrideClockCheck,
  })
  const note = changeNoter(db, clock)
  const importRecords = recordImporter(db, note)
  const forgetSkippedIds = skippedIdRemover(db)
  const reservation = storedReservation(db, clock)
  return {
    ...branchViewWrites(db, clock),
    ...featureWrites(db, clock, note, changes),
    ...erasureWrites(db, clock, { appending, note, line, changes }),
    ...restrictionWrites(db, clock, { appending, note, line, changes }),
    ...retentionWrites(db, clock, changes),
    append(packed) {
      const batches = unpackBatches(packed)
      const outcomes = line.commit((floor) => appending.append(batches, floor))
      for (const key of appendedFeeds(batches, outcomes)) changes.raise(key)
      return packOutcomes(outcomes)
    },
    preview: (batch) => appending.preview(batch),
    startEpoch(continueAfter, actor, feeds) {
      startEpoch(db, note, continueAfter, actor, feeds)
      changes.raise(undefined)
    },
    acceptHistory: (actor) => acceptHistory(db, note, actor),
    importRecords(records, actor) {
      line.commit(() => importRecords(records, actor))
      for (const record of records) if (record.kind === 'whole') line.raiseFloor(record.reservedUntil ?? 0n)
      changes.raise(undefined)
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

/** The writes that the features define. */
function featureWrites(...given: Parameters<typeof writeRunner>): Pick<WriterVerbs, 'write'> {
  const run = writeRunner(...given)
  return { write: (name, args) => run(writeNamed(name), args) }
}
