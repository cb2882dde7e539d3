import { existsSync } from 'node:fs'
import { writeWhole } from '@property-events/server/plain'
import { readChunks } from '../publishing/source.ts'
import { splitLines } from '../publishing/split.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'
import { entryText, heldIn, subjectIn } from './local-copy.ts'
import type { LocalCopy } from './local-copy.ts'

/** A write of the file costs as much as the file is long, so it is followed by nine times as long without one. */
const restPerWrite = 9

/** A copy as one NDJSON file with a line for each property, written whole. It is held in memory meanwhile. */
export async function fileCopy(path: string, clock: () => number = Date.now): Promise<LocalCopy> {
  const lines = await readLines(path)
  let restsUntilMs = 0
  return {
    count: () => lines.size,
    holds: (subjectIds) => subjectIds.filter((subjectId) => lines.has(subjectId)).length,
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
