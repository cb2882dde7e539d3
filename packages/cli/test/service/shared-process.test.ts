/** Most tests of commands run them one after another in one process: here it is compared with what each does in its own. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { removeFolder, runAlone, runInTurn, temporaryFolder } from '../support/program.ts'
import type { RunOptions } from '../support/program.ts'

const tenant = '5bd6ac1f-2f7c-4f06-8a3b-0a4bb0f3c0d1'
const folder = temporaryFolder()
const commands: readonly (readonly [readonly string[], RunOptions])[] = [
  [['reference', '--help'], { environment: { FORCE_COLOR: '1' } }],
  [['keys', 'list', '--data', 'nowhere'], { cwd: folder }],
  [['reference', '--tenant', tenant, '--channel', 'sales', '-'], { input: 'HILL-1\nHILL-2\n' }],
  [['tenants', 'list'], { environment: { PROPERTY_EVENTS_PROT: '9000' } }],
  [['publish', '-'], { input: '{"payload":{}}', environment: { PROPERTY_EVENTS_URL: 'http://127.0.0.1:9' } }],
]

describe('a command after others in one process', () => {
  it('writes and ends as it does in its own process', async (context) => {
    context.after(() => removeFolder(folder))
    const once = []
    for (const [args, options] of commands) once.push(await runInTurn(args, options))
    // The other way round, after what would be left of them, and two at a time.
    const again = []
    for (const [args, options] of commands.toReversed()) again.unshift(await runInTurn(args, options))
    const together = await Promise.all(commands.map(([args, options]) => runInTurn(args, options)))
    const alone = await Promise.all(commands.map(([args, options]) => runAlone(args, options)))
    assert.deepEqual(once, alone)
    assert.deepEqual(again, alone)
    assert.deepEqual(together, alone)
    assert.deepEqual(
      alone.map(({ code }) => code),
      [0, 1, 0, 1, 1],
    )
  })
})
