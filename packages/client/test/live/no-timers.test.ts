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

/** Its operands: address, key, transport, and how it leaves. */
const program = `
import { createClient } from ${JSON.stringify(index)}
const [baseUrl, key, transport, leaves] = process.argv.slice(1)
const ended = new AbortController()
const client = createClient({ baseUrl, key })
try {
  for await (const event of client.follow({ after: 0, transport, signal: ended.signal })) {
    if (leaves === 'break') break
    if (leaves === 'throw') throw new Error('left')
    ended.abort()
  }
} catch (error) {
  if (error.message !== 'left') throw error
}
const held = process.getActiveResourcesInfo().filter((name) => /Timeout/.test(name))
process.stdout.write(JSON.stringify(held))`

describe('a program that follows', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
    await publish(service, [{ payload: property() }, { payload: property() }])
  })
  after(() => service.stop())

  for (const transport of ['stream', 'wait', 'polls']) {
    it(`ends when its loop is left, by ${transport}: by break, by an error, by its signal (W5)`, async () => {
      await Promise.all(
        ['break', 'throw', 'abort'].map(async (leaves) => {
          const { url, tenant } = service
          const operands = ['--input-type=module', '-e', program, url, tenant.readKey, transport, leaves]
          const child = spawn(process.execPath, operands, { stdio: ['ignore', 'pipe', 'inherit'] })
          let output = ''
          child.stdout.on('data', (text) => (output += String(text)))
          const [code] = await within(once(child, 'close'), { what: `the end after ${leaves}` })
          assert.deepEqual([code, output], [0, '[]'], leaves)
        }),
      )
    })
  }
})
