/** Page bodies: from the engine, or ready-made from sealed segments. */
import { join } from 'node:path'
import type { EventStore } from '../storage/storage.ts'
import { createBufferPool } from './buffer-pool.ts'
import { createPageReader } from './page-reader.ts'
import type { PageReader } from './page-reader.ts'
import { createSealer } from './sealer.ts'
import { openSegmentFile } from './segment-file.ts'
import { joinSegmentFile, shareSegmentFile } from './shared-segment-file.ts'
import type { SegmentFilePass, SharedSegmentFile } from './shared-segment-file.ts'
import { createSegmentMemory } from './segment-memory.ts'
import { createSegmentStore } from './segment-store.ts'

export type { ContentCoding, PageBody } from './page-body.ts'
export type { PageReader } from './page-reader.ts'
export type { SegmentFilePass, SharedSegmentFile } from './shared-segment-file.ts'

export interface SealedPagesOptions {
  /** Segments in memory, in bytes; the least recently used go first. */
  readonly memoryBytes: number
  /** Where the file of segments lies; without it they live in memory alone. */
  readonly folder: string | undefined
  /** What the file may grow to; beyond it nothing more is sealed. */
  readonly fileBytes: number
  /** The file that another thread holds, in place of one of its own. */
  readonly shared?: SegmentFilePass | undefined
}

/** Of the buffers that pages are read into, this much may lie idle: 32 pages of 500 kB at once, and some. */
const idleBufferBytes = 32 * 2 ** 20

const fileName = 'sealed-pages'

/** Pages from the engine alone, made anew for each request. */
export function plainPages(events: EventStore): PageReader {
  return createPageReader(events, undefined)
}

/** Pages from sealed segments where there are any. The file is derived data and may be deleted while nobody uses it. */
export function sealedPages(events: EventStore, options: SealedPagesOptions): PageReader {
  const { memoryBytes, folder, fileBytes, shared } = options
  // With nowhere to keep them, making segments would be for nothing.
  if (memoryBytes === 0 && folder === undefined && shared === undefined) return plainPages(events)
  const memory = createSegmentMemory(memoryBytes)
  const own = folder === undefined ? undefined : openSegmentFile(join(folder, fileName), fileBytes)
  const file = shared === undefined ? own : joinSegmentFile(shared)
  const pool = createBufferPool(idleBufferBytes / (shared?.threads ?? 1))
  const store = createSegmentStore({ memory, file, pool })
  return createPageReader(events, { store, sealer: createSealer(events, store, Date.now) })
}

/** Opens the file for several threads, of which each makes its `sealedPages` with a pass. */
export function sharedPagesFile(folder: string, fileBytes: number, threads: number): SharedSegmentFile {
  return shareSegmentFile(openSegmentFile(join(folder, fileName), fileBytes), threads)
}
