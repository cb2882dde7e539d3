import { existsSync, readFileSync } from 'node:fs'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'
import { entryText, subjectIn } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'
import { writeWhole } from './write-whole.ts'

/** A long sync is on disk as far as it has come every so often; writing the file costs what it holds. */
const flushEveryMs = 10_000

/** A copy as one NDJSON file with a line for each property, written whole. It is held in memory meanwhile. */
export function fileCopy(path: string, clock: () => number = Date.now): LocalCopy {
  const lines = readLines(path)
  let flushedMs = clock()
  return {
    count: () => lines.size,
    holds: (subjectIds) => subjectIds.filter((subjectId) => lines.has(subjectId)).length,
    subjects: () => [...lines.keys()],
    async put(entry) {
      lines.set(entry.subjectId, `${entryText(entry)}\n`)
    },
    async remove(subjectId) {
      lines.delete(subjectId)
    },
    async flush(finished) {
      if (!finished && clock() - flushedMs < flushEveryMs) return false
      await writeWhole(path, lines.values())
      flushedMs = clock()
      return true
    },
  }
}

function readLines(path: string): Map<string, string> {
  const lines = new Map<string, string>()
  if (!existsSync(path)) return lines
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue
    const subjectId = subjectIn(line)
    if (subjectId === undefined) {
      throw new Refusal(
        `${plainText(path)} is not a copy that sync has made: a line of it names no subjectId. Name a new file.`,
      )
    }
    lines.set(subjectId, `${line}\n`)
  }
  return lines
}
