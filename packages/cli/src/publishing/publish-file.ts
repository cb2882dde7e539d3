import { gatherBatches } from './batches.ts'
import type { Batch } from './batches.ts'
import type { Source } from './source.ts'
import type { PublishClient } from './publish-client.ts'
import { placeNumber, readEntry } from './read-entry.ts'
import type { EntryReading, RefusedEntry } from './read-entry.ts'
import { sendBatch } from './send-batch.ts'
import type { BatchResult } from './send-batch.ts'
import { splitJson } from './split-json.ts'
import { splitLines } from './split-lines.ts'

export interface PublishFileOptions {
  readonly client: PublishClient
  readonly source: Source
  /** UUID of the run, from which the ids of events without one are made. */
  readonly run: string
  /** Place of the last event that was answered earlier, and is left out now; 0 for none. */
  readonly after: number
  readonly unchanged: 'skip' | 'store'
  readonly dryRun: boolean
  /** After each batch, and before the next one is sent. `isLast`: the whole file is answered. */
  readonly onBatch: (result: BatchResult, batch: Batch, isLast: boolean) => Promise<void>
}

/**
 * Publishes a file of any size, request after request in the order of the file; the next batch is read while one is
 * answered. Throws the client's error when the service cannot continue; earlier batches are stored.
 */
export async function publishFile(options: PublishFileOptions): Promise<void> {
  const { client, dryRun, unchanged } = options
  const send = (text: string) => client.publishText(text, { unchanged, dryRun })
  const batches = gatherBatches(readEntries(options))
  let next = batches.next()
  for (;;) {
    const read = await next
    if (read.done === true) return
    next = batches.next()
    // A fault at the end of the file is reported in its turn, after the answer for the events before it.
    next.catch(() => undefined)
    const result = await sendBatch(read.value.entries, send)
    const isLast = await next.then(
      ({ done }) => done === true,
      () => false,
    )
    const refused = inOrder([...read.value.refused, ...result.refused])
    await options.onBatch({ ...result, refused }, read.value, isLast)
  }
}

async function* readEntries({ source, run, after }: PublishFileOptions): AsyncGenerator<EntryReading> {
  const pieces = source.format === 'json' ? splitJson(source.read()) : splitLines(source.read())
  for await (const piece of pieces) if (placeNumber(piece) > after) yield readEntry(piece, run)
}

function inOrder(refused: readonly RefusedEntry[]): readonly RefusedEntry[] {
  return refused.toSorted((a, b) => a.line - b.line || (a.item ?? 0) - (b.item ?? 0))
}
