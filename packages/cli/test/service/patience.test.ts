/** How long a command waits for a service that is away: a person is told soon, a script waits. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { door, finished, removeFolder, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
let asks = 0
const service = createServer((_, response) => {
  asks += 1
  response.writeHead(503, { 'content-type': 'application/problem+json' })
  response.end(JSON.stringify({ status: 503, code: 'overloaded', detail: 'The service is busy.' }))
})
before(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)))
after(() => {
  service.close()
  removeFolder(folder)
})

/** As a person runs it: `script` gives it a terminal. */
async function atTerminal(
  ...args: readonly string[]
): Promise<{ asks: number; shown: string; code: number | null }> {
  asks = 0
  const { port } = service.address() as AddressInfo
  const line = [process.execPath, door, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      XDG_STATE_HOME: folder,
      PROPERTY_EVENTS_URL: `http://127.0.0.1:${port}`,
      PROPERTY_EVENTS_KEY: `pev_${'a'.repeat(12)}_${'b'.repeat(43)}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout: shown, code } = await finished(child)
  return { asks, shown, code }
}

describe('a service that is away is asked three times for a person at a terminal', () => {
  it('who publishes a file, and hears what to do (D14)', async () => {
    const file = join(folder, 'tonight.ndjson')
    writeFileSync(file, '{"agent_ref":"7a1c0f52-9a0e-4d53-8000-000000000001","published":true}\n')
    const ended = await atTerminal('publish', file)
    assert.deepEqual([ended.asks, ended.code], [3, 1], ended.shown)
    assert.match(ended.shown, /The service is busy\. \(503, overloaded\)/)
  })

  for (const args of [
    ['consumers', 'list'],
    ['erasures', 'list'],
    ['properties', 'get', '7a1c0f52-9a0e-4d53-8000-000000000001'],
    ['events', 'tail', '--no-follow'],
  ]) {
    it(`who runs ${args.slice(0, 2).join(' ').replace(folder, '.')}`, async () => {
      const ended = await atTerminal(...args)
      assert.deepEqual([ended.asks, ended.code], [3, 1], ended.shown)
    })
  }

  it('who keeps a copy, and once for the list, which other servers have, too', async () => {
    const ended = await atTerminal('sync', join(folder, 'copy'))
    assert.deepEqual([ended.asks, ended.code], [4, 1], ended.shown)
  })
})
