/** Reads of pages that are nowhere ready-made do not hold up the event loop (P5). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTenantQueues } from '../../src/reading/page-cache/page-reader.ts'

const readMs = 2

/** Holds the event loop, as a read from a file does. */
async function holdLoop(): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < readMs;);
}

/** In how many turns of the event loop so many pages are read that were asked for in one. */
async function turnsOf(reads: number, tenantOf: (index: number) => string): Promise<number> {
  const inLine = createTenantQueues()
  const done = { is: false }
  let turns = 0
  const count = (): void => {
    turns += 1
    if (!done.is) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: reads }, (_, index) => inLine(tenantOf(index), holdLoop)))
  done.is = true
  return turns
}

it('others have their turn while a hundred pages are read that were requested together, of one tenant or of many (P5)', async () => {
  for (const tenantOf of [() => 'one', String]) {
    const turns = await turnsOf(100, tenantOf)
    // Each turn has room for three.
    assert.ok(turns >= 30, `${turns} turns for 100 reads of ${readMs} ms`)
  }
})

it('pages that take no time are read in one turn (P5)', async () => {
  // A busy machine may stop the process for longer than a turn has room for, but not each time.
  let turns = 1
  for (let attempt = 0; attempt < 20 && turns > 0; attempt += 1) {
    const inLine = createTenantQueues()
    turns = 0
    const count = setImmediate(() => (turns += 1))
    for (let index = 0; index < 20; index += 1) await inLine(String(index), async () => undefined)
    clearImmediate(count)
  }
  assert.equal(turns, 0)
})
