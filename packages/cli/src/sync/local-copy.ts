import {
  closeSync,
  existsSync,
  fsync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CopyView, FeedEvent, HeldSubject } from '@property-events/client'
import { draftPathOf, writeWhole } from '@property-events/server/plain'
import { isUuid } from '@property-events/protocol'
import { readChunks } from '../publishing/source.ts'
import { splitLines } from '../publishing/split.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

/** One property or contact in a copy: its latest event, whose payload is an object. */
interface CopyEntry {
  readonly subjectId: string
  readonly event: FeedEvent
}

/** The place where `sync` keeps the copy. */
export interface LocalCopy extends CopyView {
  put(entry: CopyEntry): Promise<void>
  remove(subjectId: string): Promise<void>
  /** Continues a copy that held so many when its checkpoint was stored. False if nothing is left of them. */
  resume(held: number): boolean
  /** As it stands on disk, with the numbers of the events; 0 for an entry that cannot be read. */
  held(): Iterable<HeldSubject>
  /** True when everything so far is on disk. A copy may postpone that, unless the sync has `finished`. */
  flush(finished: boolean): Promise<boolean>
}

/** The entry as one line of JSON: the event's members, with the payload as an object, as the publisher wrote it where that is one line. */
function entryText({ subjectId, event }: CopyEntry): string {
  const { payload, ...members } = event
  // Half a surrogate pair is no UTF-8: written anew it is an escape.
  const isLine = payload.isWellFormed() && !/[\r\n]/.test(payload)
  const text = isLine ? payload : JSON.stringify(JSON.parse(payload))
  return `${JSON.stringify({ subjectId, ...members }).slice(0, -1)},"payload":${text}}`
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}

/** What an entry's text is of, and the number of its event, 0 where it has none. */
function heldIn(text: string, name: string): HeldSubject {
  const value = parsed(text)
  const isEntry = typeof value === 'object' && value !== null && 'sequenceNumber' in value
  const number = isEntry ? Number(value.sequenceNumber) : Number.NaN
  const subjectId = subjectIn(text) ?? name
  return { subjectId, sequenceNumber: Number.isSafeInteger(number) ? number : 0 }
}

/** The `subjectId` of an entry's text; `undefined` when it is not one. */
function subjectIn(text: string): string | undefined {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || !('subjectId' in value)) return undefined
  return typeof value.subjectId === 'string' ? value.subjectId : undefined
}

/** A write of the file costs as much as the file is long, so it is followed by nine times as long without one. */
const restPerWrite = 9

/** A copy as one NDJSON file with a line for each property, written whole. It is held in memory meanwhile. */
export async function fileCopy(path: string, clock: () => number = Date.now): Promise<LocalCopy> {
  const lines = await readLines(path)
  let restsUntilMs = 0
  return {
    count: () => lines.size,
    countOf: (subjectIds) => subjectIds.filter((subjectId) => lines.has(subjectId)).length,
    subjects: () => [...lines.keys()],
    *held() {
      for (const [subjectId, line] of lines) yield heldIn(line, subjectId)
    },
    async put(entry) {
      lines.set(entry.subjectId, `${entryText(entry)}\n`)
    },
    async remove(subjectId) {
      lines.delete(subjectId)
    },
    resume: (held) => held === 0 || lines.size > 0,
    async flush(finished) {
      const startedMs = clock()
      if (!finished && startedMs < restsUntilMs) return false
      await writeWhole(path, lines.values())
      restsUntilMs = clock() + restPerWrite * (clock() - startedMs)
      return true
    },
  }
}

/** Line by line, because a text cannot be longer than 512 MiB, and a file can. */
async function readLines(path: string): Promise<Map<string, string>> {
  const lines = new Map<string, string>()
  if (!existsSync(path)) return lines
  for await (const { bytes } of splitLines(readChunks(path), Infinity)) {
    const line = bytes?.toString('utf8') ?? ''
    const subjectId = subjectIn(line)
    if (subjectId === undefined) {
      throw new Refusal(
        `${plainText(path)} is not a copy that sync has created: one of its lines has no subjectId. Name a new file.`,
      )
    }
    lines.set(subjectId, `${line}\n`)
  }
  return lines
}

/** Files written at a time: each of them waits for the disk. */
const maxWriting = 16

/**
 * The file of the checkpoint. It exists before the first property does, so it distinguishes a copy from other folders.
 */
export const checkpointFileName = '.checkpoint'

/**
 * Makes the folder of a copy if there is none. Throws a `Refusal` for a folder with JSON files that is not a copy, and
 * leaves it as it was, because a sync would take some of them for its own.
 */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(join(folder, checkpointFileName))) return
  const [first, ...others] = readdirSync(folder).filter((file) => file.endsWith('.json'))
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more JSON files`
  throw new Refusal(
    `${plainText(folder)} is not a copy that sync has created: it contains ${plainText(first)}${more}, and no ${checkpointFileName}. ` +
      'Name a new or empty folder.',
  )
}

/**
 * A copy as a folder, checked by `prepareFolder`, with one JSON file for each property, named by its reference. Files with other names are
 * not part of it. Its names are listed when the first of them is needed: where nothing is new, a folder of 100,000 is not read.
 */
export function folderCopy(folder: string): LocalCopy {
  let listed: Set<string> | undefined
  let heldBefore: number | undefined
  const names = (): Set<string> => (listed ??= listNames(folder))
  /** Names with their new text, or without one when they go. */
  let changed = new Map<string, string | undefined>()
  return {
    // The stored number is right until a change comes, which lists the names first.
    count: () => listed?.size ?? heldBefore ?? names().size,
    countOf: (subjectIds) => subjectIds.filter((subjectId) => names().has(nameOf(subjectId))).length,
    subjects: () => subjectsOf(folder, names()),
    *held() {
      for (const name of names()) yield heldIn(readFileSync(join(folder, `${name}.json`), 'utf8'), name)
    },
    async put(entry) {
      const name = nameOf(entry.subjectId)
      names().add(name)
      changed.set(name, `${entryText(entry)}\n`)
    },
    async remove(subjectId) {
      const name = nameOf(subjectId)
      names().delete(name)
      changed.set(name, undefined)
    },
    resume(held) {
      if (held > 0 && isEmptied(folder)) return false
      heldBefore = held
      return true
    },
    async flush() {
      const left = changed.entries()
      changed = new Map()
      const work = async (): Promise<void> => {
        for (const [name, text] of left) {
          const path = join(folder, `${name}.json`)
          await (text === undefined ? rm(path, { force: true }) : writeEntry(path, text))
        }
      }
      const ended = await Promise.allSettled(Array.from({ length: maxWriting }, work))
      // After all have ended: a later sync in this process must not meet one that is still writing.
      for (const one of ended) if (one.status === 'rejected') throw one.reason
      return true
    },
  }
}

const flushed = promisify(fsync)

/** Like `writeWhole`, for a few kB: only the disk is waited for, because a wait costs more than a write. */
async function writeEntry(path: string, text: string): Promise<void> {
  const draft = draftPathOf(path)
  const file = openSync(draft, 'w', 0o600)
  try {
    writeFileSync(file, text)
    await flushed(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

const draftSuffix = draftPathOf('')

/**
 * The entries of a folder. Removes those that a sync was writing when it was killed, and no other files: a property that was removed since
 * would stay there for ever. The next sync has the same changes before it, so it always gets here.
 */
function listNames(folder: string): Set<string> {
  const names = new Set<string>()
  for (const file of readdirSync(folder)) {
    const isDraft = file.endsWith(draftSuffix)
    const name = entryNameOf(isDraft ? file.slice(0, -draftSuffix.length) : file)
    if (name === undefined) continue
    if (isDraft) rmSync(join(folder, file))
    else names.add(name)
  }
  return names
}

/** Reads the folder up to its first entry. */
function isEmptied(folder: string): boolean {
  const files = opendirSync(folder)
  try {
    for (let file = files.readSync(); file !== null; file = files.readSync()) {
      if (entryNameOf(file.name) !== undefined) return false
    }
    return true
  } finally {
    files.closeSync()
  }
}

/** The reference that a file is named by; where the name is a digest, the reference in the file. */
function* subjectsOf(folder: string, names: ReadonlySet<string>): Generator<string> {
  for (const name of names) {
    const subjectId = name.startsWith(digestMark)
      ? subjectIn(readFileSync(join(folder, `${name}.json`), 'utf8'))
      : name
    if (subjectId !== undefined && nameOf(subjectId) === name) yield subjectId
  }
}

const digestMark = 'x-'

/** Our references are UUIDs. Another server's may be any text, and must not lead out of the folder. */
function nameOf(subjectId: string): string {
  if (isUuid(subjectId)) return subjectId
  return `${digestMark}${createHash('sha256').update(subjectId).digest('hex').slice(0, 32)}`
}

/** The name of the entry in a file of the copy; `undefined` for other files. */
function entryNameOf(file: string): string | undefined {
  const name = file.endsWith('.json') ? file.slice(0, -'.json'.length) : ''
  return isName(name) ? name : undefined
}

/** True for a name that `nameOf` can give. Subjects are in lower case. */
function isName(name: string): boolean {
  return (isUuid(name) && name === name.toLowerCase()) || /^x-[0-9a-f]{32}$/.test(name)
}
