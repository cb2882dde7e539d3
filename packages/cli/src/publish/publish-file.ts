import { gatherBatches } from './batches.ts'
import type { Batch } from './batches.ts'
import type { Source } from './open-source.ts'
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
  /** UUID of the run, of which ids are made for events without one. */
  readonly run: string
  /** Place of the last event that was answered before, and is left out; 0 for none. */
  readonly after: number
  readonly unchanged: 'skip' | 'store'
  readonly dryRun: boolean
  /** After each batch, and before the next one is sent. `isLast`: all of the file is answered. */
  readonly onBatch: (result: BatchResult, batch: Batch, isLast: boolean) => Promise<void>
}

/**
 * Publishes a file of any size, request after request in the order of the file; while one is answered the next is read.
 * Throws what the client does when the service cannot go on; batches before that are stored.
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
    // A file that ends badly is told when its turn comes, after the answer for what stands before.
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
