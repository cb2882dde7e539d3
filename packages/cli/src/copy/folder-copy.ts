import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { entryText, subjectIn } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { writeWhole } from './write-whole.ts'

/** Files written at a time: each waits for the disk by itself. */
const maxWriting = 16

/** A copy as a folder with one JSON file for each property, named by its reference. */
export function folderCopy(folder: string): LocalCopy {
  mkdirSync(folder, { recursive: true })
  const names = new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .map((name) => name.slice(0, -'.json'.length)),
  )
  const writing = new Set<Promise<void>>()
  const begin = async (work: () => Promise<void>): Promise<void> => {
    while (writing.size >= maxWriting) await Promise.race(writing)
    const promise = work().finally(() => writing.delete(promise))
    writing.add(promise)
    // Whoever flushes hears of a failure; until then it must not end the program.
    promise.catch(() => undefined)
  }
  return {
    count: () => names.size,
    holds: (subjectIds) => subjectIds.filter((subjectId) => names.has(nameOf(subjectId))).length,
    subjects: () => subjectsOf(folder, names),
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

/** The reference that a file is named by; where the name is a digest, the one that stands in it. */
function* subjectsOf(folder: string, names: ReadonlySet<string>): Generator<string> {
  for (const name of names) {
    const text = name.startsWith(digestMark) ? readFileSync(join(folder, `${name}.json`), 'utf8') : undefined
    yield text === undefined ? name : (subjectIn(text) ?? name)
  }
}

const digestMark = 'x-'

/** References are UUIDs with us. What another server uses may be any text, and must not lead out of the folder. */
function nameOf(subjectId: string): string {
  if (/^[0-9a-z][0-9a-z_-]{0,99}$/.test(subjectId) && !subjectId.startsWith(digestMark)) return subjectId
  return `${digestMark}${createHash('sha256').update(subjectId).digest('hex').slice(0, 32)}`
}
