/** What lies on disk between two runs of `sync`, and during one: nobody else may have touched it, and somebody may. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { run, runJson, runUntil, startMarket } from './support/program.ts'
import type { Market } from './support/program.ts'

interface Summary {
  readonly events: number
  readonly removals: number
  readonly held: number
}

let market: Market
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
  await publish(...Array.from({ length: 5 }, (_, index) => property(index, { status: 1 })))
})
after(() => market.close())

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`
const property = (index: number, more: object) => ({
  payload: { agent_ref: refOf(index), published: true, ...more },
})

async function publish(...events: readonly object[]): Promise<void> {
  const response = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.equal(response.status, 201, await response.text())
}

/** How many properties lie at the target, by what another program would see. */
function onDisk(target: string): number {
  if (target.endsWith('.ndjson')) return readFileSync(target, 'utf8').split('\n').length - 1
  return readdirSync(target).filter((name) => name.endsWith('.json')).length
}

describe('two syncs at once', () => {
  for (const target of ['a folder', 'a file.ndjson']) {
    it(`are one too many for ${target}: the second is refused, until the first is gone, even killed`, async (context) => {
      const path = join(market.folder, `wanted twice, ${target}`)
      const silent = createServer(() => undefined).listen(0, '127.0.0.1')
      context.after(() => void silent.close())
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      const args = ['sync', path, '--url', `http://127.0.0.1:${port}`]
      const first = await runUntil(args, once(silent, 'request'), { environment })
      const second = await run(['sync', path], { environment })
      await first.stop('SIGKILL')
      assert.equal(second.code, 1, second.stdout)
      assert.match(second.stderr, /^Another sync .*twice, a .*\. Wait until it has ended, .*\.\n$/)
      for (let runs = 0; runs < 2; runs += 1) {
        assert.equal((await runJson<Summary>(['sync', path], { environment })).held, 5)
        assert.equal(onDisk(path), 5)
      }
    })
  }

  it('spoil nothing where a copy cannot be locked: that is said', async () => {
    const folder = join(market.folder, 'not to be locked')
    mkdirSync(folder)
    writeFileSync(join(folder, '.sync.lock'), 'This is the file of somebody else.\n')
    const { code, stderr } = await run(['sync', folder], { environment })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^\S.*\.sync\.lock cannot be locked \(.+\), so .*\. Name another target, on a local disk\.\n$/,
    )
    assert.deepEqual(readdirSync(folder), ['.sync.lock'])
  })
})
