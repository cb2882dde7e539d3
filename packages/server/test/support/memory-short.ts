/** A program of its own, with a low limit of open files: looks at its resident memory before and after the last descriptor is gone. */
import { closeSync, openSync } from 'node:fs'
import { residentBytes } from '../../src/runtime/memory/process-memory.ts'

const before = residentBytes()
const files: number[] = []
let failure = ''
try {
  for (;;) files.push(openSync('/dev/null', 'r'))
} catch (error) {
  failure = error instanceof Error && 'code' in error ? String(error.code) : ''
}
const without = residentBytes()
for (const file of files) closeSync(file)
process.stdout.write(JSON.stringify({ failure, isKnown: before > 0, isSame: without === before }))
