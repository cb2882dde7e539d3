/** A website's copy that can crash anywhere, and a checker that watches what is done to it. */
import assert from 'node:assert/strict'
import type { Batch, CheckpointStore, CopyView, FeedEvent } from '../../src/index.ts'

/**
 * How the consumer keeps copy and checkpoint together. `checkpointFirst` is wrong on purpose: it loses a batch when it
 * crashes in between, and the checker has to notice.
 */
export type Keeping = 'applyThenSave' | 'oneTransaction' | 'checkpointFirst'

export class Crash extends Error {}

export interface Row {
  readonly sequenceNumber: number
  readonly payload: string
}

export interface Consumer {
  readonly rows: Map<string, Row>
  readonly checkpoint: CheckpointStore
  readonly copy: CopyView
  readonly apply: (batch: Batch) => Promise<void>
  /** The feed was rebuilt: a read by pages gives its events again from the first, and their numbers may be lower. */
  beginEpoch(): void
  /** Throws a `Crash` at the step after so many more. */
  crashAfter(steps: number): void
  /** Steps since the last crash was planned. */
  readonly steps: number
  /** Checks that the rows are what the fold of the feed says. */
  checkEqual(fold: ReadonlyMap<string, FeedEvent>): void
}

export function createConsumer(keeping: Keeping): Consumer {
  const rows = new Map<string, Row>()
  let saved: string | undefined
  let stepsLeft = Infinity
  let steps = 0
  /** Highest number ever put into the copy, by subject: nothing lower may follow. */
  const highest = new Map<string, number>()

  const step = () => {
    steps += 1
    stepsLeft -= 1
    if (stepsLeft < 0) throw new Crash()
  }

  function applyRow({ kind, subjectId, sequenceNumber, event }: Batch['changes'][number]): void {
    if (sequenceNumber > 0) {
      const before = highest.get(subjectId) ?? 0
      assert.ok(sequenceNumber >= before, `event ${sequenceNumber} of ${subjectId} came after ${before}`)
      highest.set(subjectId, sequenceNumber)
    }
    if (kind === 'remove') rows.delete(subjectId)
    else rows.set(subjectId, { sequenceNumber, payload: event.payload })
  }

  const keepsItself = keeping === 'oneTransaction' || keeping === 'checkpointFirst'
  return {
    rows,
    get steps() {
      return steps
    },
    checkpoint: {
      load() {
        step()
        return saved === undefined ? undefined : JSON.parse(saved)
      },
      ...(keepsItself
        ? {}
        : {
            save(checkpoint) {
              step()
              saved = JSON.stringify(checkpoint)
              step()
            },
          }),
    },
    copy: {
      count: () => rows.size,
      countOf: (subjectIds) => subjectIds.filter((id) => rows.has(id)).length,
      subjects: () => [...rows.keys()],
    },
    async apply({ changes, startsOver, checkpoint }) {
      step()
      const subjectIds = changes.map(({ subjectId }) => subjectId)
      assert.equal(new Set(subjectIds).size, changes.length, 'a subject occurs twice in a batch')
      const numbers = changes.map(({ sequenceNumber }) => sequenceNumber)
      assert.deepEqual(
        numbers,
        numbers.toSorted((one, other) => one - other),
      )
      if (keeping === 'checkpointFirst') {
        saved = JSON.stringify(checkpoint)
        step()
      }
      if (startsOver) {
        rows.clear()
        highest.clear()
      }
      for (const change of changes) {
        applyRow(change)
        if (keeping !== 'oneTransaction') step()
      }
      if (keeping === 'oneTransaction') saved = JSON.stringify(checkpoint)
      step()
    },
    beginEpoch() {
      highest.clear()
    },
    crashAfter(count) {
      steps = 0
      stepsLeft = count
    },
    checkEqual(fold) {
      const wanted = [...fold]
        .filter(([, event]) => event.payload !== '' && event.payload.includes('"published":true'))
        .map(([subject, { sequenceNumber, payload }]) => [subject, { sequenceNumber, payload }] as const)
      assert.deepEqual(rows, new Map(wanted))
    },
  }
}
