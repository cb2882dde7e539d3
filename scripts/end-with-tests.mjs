/**
 * Loaded into each test file by test.mjs. The runner waits without limit for a file whose process stays: one store or server that a failed
 * test left open held a run for 40 minutes. So a file has some time to end after its last test, and then fails with what was open.
 */
import { after } from 'node:test'

const limitMs = 20_000

after(() => {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]} did not end after its tests. Still open: ${open}\n`)
    process.exit(1)
  }, limitMs).unref()
})
