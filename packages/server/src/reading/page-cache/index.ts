/** Page bodies, from the engine or ready-made from sealed segments. */
import { join } from 'node:path'
import type { TaskReport } from '../../runtime/background-task.ts'
import type { CountBytes, RangeReads } from './page-parts.ts'
import { createPageReader } from './page-reader.ts'
import type { PageReader } from './page-reader.ts'
import { createSealer } from './segments/sealer.ts'
import { openSegmentFile } from './segments/segment-file.ts'
import { createSegmentMemory } from './segments/segment-memory.ts'
import { createSegmentStore } from './segments/segment-store.ts'

export type { CountBytes, RangeReads } from './page-parts.ts'
export type { StreamedBody } from './page-body.ts'
export type { PageReader } from './page-reader.ts'

export interface SealedPagesOptions {
  /**
   * Memory for segments, in bytes: for those that are kept, of which the least recently used go first, and for those from which answers
   * are being sent. With less than 32 MiB fewer are kept, and answers still have that much.
   */
  readonly memoryBytes: number
  /** The folder of the file of segments. Without it, segments live in memory alone. */
  readonly folder: string | undefined
  /** The limit of the file's size. Segments that do not fit are not made, except one a minute to try whether there is room again. */
  readonly fileBytes: number
}

/** The least memory that answers have: 64 pages of 500 kB at once. It is used only as far as it is needed. */
const leastBytes = 32 * 2 ** 20

const fileName = 'sealed-pages'

/** Pages from the engine alone, built for each request. */
export function plainPages(events: RangeReads, count?: CountBytes): PageReader {
  return createPageReader(events, undefined, count)
}

/** Pages from sealed segments if there are any. The file is derived data and may be deleted while no service runs. */
export function sealedPages(
  events: RangeReads,
  options: SealedPagesOptions,
  report?: TaskReport,
  count?: CountBytes,
): PageReader {
  const { memoryBytes, folder, fileBytes } = options
  // Without a place to keep segments, making them is of no use.
  if (memoryBytes === 0 && folder === undefined) return plainPages(events, count)
  const memory = createSegmentMemory({ memoryBytes, leastBytes })
  const file = folder === undefined ? undefined : openSegmentFile(join(folder, fileName), fileBytes)
  const store = createSegmentStore({ memory, file })
  const sealed = { store, sealer: createSealer(events, store, () => performance.now(), report) }
  return createPageReader(events, sealed, count)
}
