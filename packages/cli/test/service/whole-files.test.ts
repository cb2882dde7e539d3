/** A file that gets its name is on disk by then: after a power cut, a name stands for a whole file or for the one before. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { run, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'
import type { Recorded } from '../support/record-naming.ts'

let market: Market
before(async () => {
  market = await startMarket()
  await publish(0)
})
after(() => market.close())

async function publish(price: number): Promise<void> {
  const events = Array.from({ length: 3 }, (_, index) => ({
    payload: {
      agent_ref: `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`,
      published: true,
      price_information: { price },
    },
  }))
  const response = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.equal(response.status, 201, await response.text())
}

/** What one command flushed and named, in order. */
async function recorded(args: readonly string[]): Promise<readonly Recorded[]> {
  const log = join(market.folder, 'recorded')
  rmSync(log, { force: true })
  const { code, stderr } = await run(args, {
    environment: {
      PROPERTY_EVENTS_URL: market.url,
      PROPERTY_EVENTS_KEY: market.readKey,
      RECORD_NAMING: log,
    },
    nodeArguments: ['--import', join(import.meta.dirname, '../support/record-naming.ts')],
  })
  assert.equal(code, 0, stderr)
  return readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Recorded]))
}

/** Every name was given to a file that was flushed before, each time anew. Answers which names. */
function checkFlushedFirst(steps: readonly Recorded[]): readonly string[] {
  const flushed = new Set<string>()
  const names: string[] = []
  for (const step of steps) {
    if (step.kind === 'flushed') flushed.add(step.path)
    else {
      assert.ok(flushed.delete(step.path), `${step.path} got its name ${basename(step.as)} unflushed`)
      names.push(step.as)
    }
  }
  return names
}

describe('a file that gets its name', () => {
  it('is flushed before in a backup, and the folder after it (P7)', async () => {
    const path = join(market.folder, 'backups.db')
    const steps = await recorded(['backup', path, '--data', market.folder])
    assert.deepEqual(checkFlushedFirst(steps), [path])
    const named = steps.findIndex((step) => step.kind === 'named')
    const folderFlushed = steps
      .slice(named)
      .some((step) => step.kind === 'flushed' && step.path === dirname(path))
    assert.ok(folderFlushed || process.platform === 'win32', 'the name is on disk as well')
  })

  it('is flushed before in a copy, a folder as well as a file, the first time and after a change', async () => {
    const folder = join(market.folder, 'copy')
    const file = join(market.folder, 'copy.ndjson')
    for (const price of [1, 2]) {
      await publish(price)
      const inFolder = checkFlushedFirst(await recorded(['sync', folder]))
      const properties = inFolder.filter((name) => name.endsWith('.json'))
      assert.equal(properties.length, 3)
      const asFile = checkFlushedFirst(await recorded(['sync', file]))
      assert.ok(asFile.includes(file))
      assert.match(readFileSync(file, 'utf8'), new RegExp(`"price":${price}\\b`))
    }
  })
})
