import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '@property-events/protocol'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'
import { entryText, heldIn, subjectIn } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { writeWhole } from '@property-events/server/plain'

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
  const files = readdirSync(folder)
  const [first, ...others] = files.filter((file) => file.endsWith('.json'))
  if (first === undefined || files.includes(checkpointFileName)) return
  const more = others.length === 0 ? '' : ` and ${others.length} more JSON files`
  throw new Refusal(
    `${plainText(folder)} is not a copy that sync has created: it contains ${plainText(first)}${more}, and no ${checkpointFileName}. ` +
      'Name a new or empty folder.',
  )
}

/**
 * A copy as a folder, checked by `prepareFolder`, with one JSON file for each property, named by its reference. Files
 * with other names are not part of it.
 */
export function folderCopy(folder: string): LocalCopy {
  const names = new Set(readdirSync(folder).flatMap((file) => entryNameOf(file) ?? []))
  const writing = new Set<Promise<void>>()
  const begin = async (work: () => Promise<void>): Promise<void> => {
    while (writing.size >= maxWriting) await Promise.race(writing)
    const promise = work().finally(() => writing.delete(promise))
    writing.add(promise)
    // The flush reports the failure; until then it must not end the program.
    promise.catch(() => undefined)
  }
  return {
    count: () => names.size,
    holds: (subjectIds) => subjectIds.filter((subjectId) => names.has(nameOf(subjectId))).length,
    subjects: () => subjectsOf(folder, names),
    *held() {
      for (const name of names) yield heldIn(readFileSync(join(folder, `${name}.json`), 'utf8'), name)
    },
    put: (entry) => {
      const name = nameOf(entry.subjectId)
      names.add(name)
      return begin(() => writeWhole(join(folder, `${name}.json`), [`${entryText(entry)}\n`]))
    },
    remove: (subjectId) => {
      const name = nameOf(subjectId)
      names.delete(name)
      return begin(() => rm(join(folder, `${name}.json`), { force: true }))
    },
    flush: async () => {
      await Promise.all(writing)
      return true
    },
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
export function entryNameOf(file: string): string | undefined {
  const name = file.endsWith('.json') ? file.slice(0, -'.json'.length) : ''
  return isName(name) ? name : undefined
}

/** True for a name that `nameOf` can give. Subjects are in lower case. */
function isName(name: string): boolean {
  return (isUuid(name) && name === name.toLowerCase()) || /^x-[0-9a-f]{32}$/.test(name)
}
