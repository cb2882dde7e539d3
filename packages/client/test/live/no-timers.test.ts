/** A program that leaves the loop ends by itself: no timer and no connection keeps it (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { within } from '../../../server/test/support/until.ts'

const index = join(import.meta.dirname, '../../src/index.ts')

/** Its operands: address and key. Prints how it left, and which timers were left then. */
const program = `
import { createClient } from ${JSON.stringify(index)}
const [baseUrl, key] = process.argv.slice(1)
const client = createClient({ baseUrl, key })
for (const transport of ['stream', 'wait', 'polls']) for (const leaves of ['break', 'throw', 'abort']) {
  const ended = new AbortController()
  try {
    for await (const event of client.follow({ after: 0, transport, signal: ended.signal })) {
      if (leaves === 'break') break
      if (leaves === 'throw') throw new Error('left')
      ended.abort()
    }
  } catch (error) {
    if (error.message !== 'left') throw error
  }
  const timers = process.getActiveResourcesInfo().filter((name) => /Timeout/.test(name))
  console.log([transport, leaves, ...timers].join(' '))
}`

describe('a program that follows', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
    await publish(service, [{ payload: property() }, { payload: property() }])
  })
  after(() => service.stop())

  it('ends when its loops are left, however they wait: by break, by an error, by a signal (L3)', async () => {
    const { url, tenant } = service
    const operands = ['--input-type=module', '-e', program, url, tenant.readKey]
    const child = spawn(process.execPath, operands, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (text) => (output += String(text)))
    const [code] = await within(once(child, 'close'), { what: 'the end of the program' })
    const ways = ['stream', 'wait', 'polls'].flatMap((transport) =>
      ['break', 'throw', 'abort'].map((leaves) => `${transport} ${leaves}`),
    )
    assert.deepEqual([code, output.trimEnd().split('\n')], [0, ways])
  })
})
