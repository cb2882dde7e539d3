/**
 * Erasures in a file outside the store (D17, docs/decisions/0030): a store that is restored from a backup holds what was erased since,
 * and nothing in it shows that. The file has lines of ids and a time, and nothing personal:
 *
 * property-events erasures 1
 *
 * ERASURE-ID TENANT-ID contact subject CONTACT-REF 2026-01-31T10:00:00.000Z
 */
import { open, readFile, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { feedNames, parseUuid } from '@property-events/protocol'
import type { Erasure } from './erasure.ts'

/** What the list keeps of an erasure. */
export type ListedErasure = Pick<Erasure, 'erasureId' | 'key' | 'target' | 'begunMs'>

export interface ErasureList {
  /** Its contents when it was opened, in order. */
  readonly listed: readonly ListedErasure[]
  /** Resolves when each of them has a line on the disk; existing lines are not repeated. */
  note(erasures: readonly ListedErasure[]): Promise<void>
  close(): Promise<void>
}

/** The file is not such a list, or was moved away. `message` is a sentence for the operator. */
export class ErasureListFault extends Error {
  override readonly name = 'ErasureListFault'
}

const heading = 'property-events erasures 1'
const linePattern =
  /^([0-9a-f-]{36}) ([0-9a-f-]{36}) (property|contact) (subject|event) ([0-9a-f-]{36}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/

/** Creates the file if it is missing, readable by its owner alone. It is only ever appended to. */
export async function openErasureList(path: string): Promise<ErasureList> {
  const file = await open(path, 'a+', 0o600)
  try {
    const text = await readFile(path, 'utf8')
    const listed = parseErasureList(path, text)
    const begun = text === '' ? `${heading}\n` : text.endsWith('\n') ? '' : '\n'
    if (begun !== '') await append(file, begun)
    if (text === '' && process.platform !== 'win32') await flushFolder(dirname(path))
    return listOver(file, path, listed)
  } catch (error) {
    await file.close()
    throw error
  }
}

export async function readErasureList(path: string): Promise<readonly ListedErasure[]> {
  return parseErasureList(path, await readFile(path, 'utf8'))
}

function listOver(file: FileHandle, path: string, listed: readonly ListedErasure[]): ErasureList {
  const known = new Set(listed.map(({ erasureId }) => erasureId))
  let isWhole = true
  let last: Promise<void> = Promise.resolve()

  async function write(erasures: readonly ListedErasure[]): Promise<void> {
    const missing = erasures.filter(({ erasureId }) => !known.has(erasureId))
    if (missing.length === 0) return
    await checkPlace(file, path)
    // The remains of a failed write stay a separate line.
    const text = `${isWhole ? '' : '\n'}${missing.map(lineOf).join('')}`
    isWhole = false
    await append(file, text)
    isWhole = true
    for (const { erasureId } of missing) known.add(erasureId)
  }

  return {
    listed,
    note(erasures) {
      last = last.catch(() => undefined).then(() => write(erasures))
      return last
    },
    async close() {
      await last.catch(() => undefined)
      await file.close()
    },
  }
}

/** An operator will look for the list under its name. */
async function checkPlace(file: FileHandle, path: string): Promise<void> {
  const own = await file.stat()
  const there = await stat(path).catch(() => undefined)
  if (there?.ino === own.ino && there.dev === own.dev) return
  throw new ErasureListFault(
    `The list of erasures ${path} was moved away or replaced. Put it back, and restart the node.`,
  )
}

async function append(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text)
  await file.sync()
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function lineOf({ erasureId, key, target, begunMs }: ListedErasure): string {
  const id = target.kind === 'subject' ? target.subjectId : target.eventId
  return `${erasureId} ${key.tenantId} ${key.feed} ${target.kind} ${id} ${new Date(begunMs).toISOString()}\n`
}

/** Each erasure once. A line that a crash has cut off was never acknowledged, and is skipped; anything else is refused. */
function parseErasureList(path: string, text: string): readonly ListedErasure[] {
  const found = new Map<string, ListedErasure>()
  for (const [index, line] of text.split('\n').entries()) {
    if (index === 0 && line !== heading && !heading.startsWith(line)) {
      throw new ErasureListFault(`${path} is not a list of erasures, which begins with "${heading}".`)
    }
    if (line === '' || line === heading || isCutOff(line)) continue
    const listed = erasureOf(line)
    if (listed === undefined) {
      throw new ErasureListFault(
        `Line ${index + 1} of the list of erasures ${path} cannot be read: it was changed. Take the list of another node, or put the line right.`,
      )
    }
    if (!found.has(listed.erasureId)) found.set(listed.erasureId, listed)
  }
  return [...found.values()]
}

function erasureOf(line: string): ListedErasure | undefined {
  const [, first = '', second = '', feedWord, kind, third = '', time = ''] = linePattern.exec(line) ?? []
  const [erasureId, tenantId, id] = [first, second, third].map(parseUuid)
  const feed = feedNames.find((name) => name === feedWord)
  const begunMs = Date.parse(time)
  if (erasureId === undefined || tenantId === undefined || feed === undefined) return undefined
  if (id === undefined || Number.isNaN(begunMs)) return undefined
  const target =
    kind === 'subject' ? ({ kind, subjectId: id } as const) : ({ kind: 'event', eventId: id } as const)
  return { erasureId, key: { tenantId, feed }, target, begunMs }
}

const nil = '00000000-0000-0000-0000-000000000000'
/** One of every form: the rest of one of them completes a line that is cut off. */
const wholeLines = [heading].concat(
  feedNames.flatMap((feed) =>
    ['subject', 'event'].map((kind) => `${nil} ${nil} ${feed} ${kind} ${nil} 2026-01-01T00:00:00.000Z`),
  ),
)

function isCutOff(line: string): boolean {
  return wholeLines.some((whole) => {
    if (line.length >= whole.length) return false
    const made = line + whole.slice(line.length)
    return made === heading || linePattern.test(made)
  })
}
