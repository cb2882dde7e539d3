/** Memory is given back under load once it has reached what is allowed, not before, and seldom where that is of no use. */
import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { relieveMemory } from '../../src/runtime/memory/process-memory.ts'

const mebibyte = 2 ** 20
/** As with the default settings and one thread. */
const limit = 470

interface Done {
  /** When, in looks. */
  readonly trimmed: readonly number[]
  readonly collected: readonly number[]
}

/** `given`: MiB that trimming, and that collecting gives back. */
function doneFor(sizes: readonly number[], given = { trim: 0, collect: 0 }, limitMiB = limit): Done {
  mock.timers.enable({ apis: ['setInterval'] })
  const [trimmed, collected]: [number[], number[]] = [[], []]
  let [look, freed] = [0, 0]
  const stop = relieveMemory(() => limitMiB * mebibyte, {
    everyMs: 500,
    residentBytes: () => ((sizes[look] ?? 0) - freed) * mebibyte,
    trim() {
      trimmed.push(look)
      freed = given.trim
    },
    collect() {
      collected.push(look)
      freed = given.trim + given.collect
    },
  })
  for (look = 0; look < sizes.length; look += 1) {
    freed = 0
    mock.timers.tick(500)
  }
  stop()
  mock.timers.tick(5_000)
  mock.timers.reset()
  return { trimmed, collected }
}

it('nothing happens below what pages, bodies, answers and the threads may have (P5)', () => {
  assert.deepEqual(doneFor([100, 300, 469, 469, 469]), { trimmed: [], collected: [] })
  assert.deepEqual(doneFor([769, 769], undefined, 770), { trimmed: [], collected: [] })
})

it('what the C library keeps is given back first, and garbage is collected where that is not enough (P5)', () => {
  assert.deepEqual(doneFor([469, 480, 300], { trim: 50, collect: 0 }), { trimmed: [1], collected: [] })
  assert.deepEqual(doneFor([469, 550, 300], { trim: 50, collect: 100 }), { trimmed: [1], collected: [1] })
})

it('garbage is collected more and more seldom while it does not help, and as before once it has (P5)', () => {
  const { collected } = doneFor(Array.from({ length: 200 }, () => 600))
  assert.deepEqual(collected, [0, 3, 8, 17, 34, 67, 128, 189])
  const again = doneFor([600, 600, 600, 600, 300, 600, 600, 600, 600])
  assert.deepEqual(again.collected, [0, 3, 5, 8])
})
