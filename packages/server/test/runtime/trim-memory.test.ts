import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { memoryTrimmer } from '../../src/runtime/memory/process-memory.ts'

/** Frees nine of ten blocks, each too short for the C library to give back by itself, and says what is resident. */
const burst = `
  const { memoryTrimmer } = await import(process.argv[1])
  const { setTimeout: delay } = await import('node:timers/promises')
  const resident = () => Math.round(process.memoryUsage.rss() / 2 ** 20)
  const beforeMiB = resident()
  let blocks = Array.from({ length: 2_500 }, () => new Uint8Array(100_000).fill(1))
  blocks = blocks.filter((_, index) => index % 10 === 0)
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const keptMiB = resident() - beforeMiB
  memoryTrimmer()()
  const leftMiB = resident() - beforeMiB
  console.log(JSON.stringify({ keptMiB, leftMiB, blocks: blocks.length }))`

const skip = memoryTrimmer() === undefined ? 'this C library, or this Node, cannot be asked to' : false

it('what the C library keeps of a burst is given back to the system (P5)', { skip }, () => {
  const script = new URL('../../src/runtime/memory/process-memory.ts', import.meta.url).href
  const settings = ['--expose-gc', '--disable-warning=ExperimentalWarning']
  const output = execFileSync(process.execPath, [...settings, '--input-type=module', '-e', burst, script], {
    env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '8388608' },
    encoding: 'utf8',
  })
  const { keptMiB, leftMiB }: { keptMiB: number; leftMiB: number } = JSON.parse(output)
  assert.ok(keptMiB > 150, `${keptMiB} MiB were kept, so there was something to give back`)
  assert.ok(leftMiB < 60, `${leftMiB} MiB are left of ${keptMiB}, where 24 are in use`)
})
