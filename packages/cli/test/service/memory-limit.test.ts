/** The program, as it is started: its limit of resident memory is set and shown, holds, and memory is given back under it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { call, listPath } from '../../../server/test/support/http-client.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'

const mebibyte = 2 ** 20
const ballast = new URL('../support/ballast.ts', import.meta.url).href

it('a service above its limit of memory refuses what is large, collects its garbage, and accepts it again (P5)', async () => {
  const data = temporaryFolder()
  const bounds = ['--in-flight-bytes', String(128 * mebibyte), '--page-memory-bytes', '0']
  const nodeArguments = ['--import', ballast]
  const running = await start(['serve', '--data', data, ...bounds], { nodeArguments })
  const { line, child } = running
  const port = Number(new URL(line.url).port)
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(line.metricsUrl)).text()
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  }
  try {
    const { keys } = await makeTenant({ data }, 'Hill & Co', { read: ['read'], publish: ['publish'] })
    const limit = await metric('property_events_memory_limit_bytes')
    assert.ok(limit > 128 * mebibyte && limit < 450 * mebibyte, `${limit} bytes`)
    const snapshot = async (): Promise<number> =>
      (await call({ port }, '/v1/property-events/snapshot', { key: keys.read.key })).status
    assert.equal(await snapshot(), 200)
    child.kill('SIGUSR2')
    await until(async () => (await snapshot()) === 503, { what: 'a refusal' })
    assert.ok((await metric('process_resident_memory_bytes')) > limit)
    assert.equal((await call({ port }, `${listPath}?pageSize=100`, { key: keys.read.key })).status, 200)
    const body = JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } })
    const headers = { 'content-type': 'application/json' }
    const publication = { method: 'POST', key: keys.publish.key, headers, body }
    assert.equal((await call({ port }, '/v1/property-events', publication)).status, 201)
    child.kill('SIGUSR2')
    // Asked seldom and not for long, so that V8 does not collect them for the requests: without a collector, 2,000 of them in 27 s made it.
    const patience = { what: 'the end of the refusals', everyMs: 200, timeoutMs: 20_000 }
    await until(async () => (await snapshot()) === 200, patience)
  } finally {
    const { code, stderr } = await running.stop()
    removeFolder(data)
    assert.equal(code, 0, stderr)
  }
})
