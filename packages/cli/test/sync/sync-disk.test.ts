/** What lies on disk while `sync` runs and between two runs: one sync at a time may write it, and people may remove it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { run, runJson, runUntil, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

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

/** The address of a server that takes requests and never answers, and its first request. */
async function silence(context: TestContext) {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  context.after(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked: once(server, 'request') }
}

/** How many properties lie at the target, by what another program would see. */
function onDisk(target: string): number {
  if (target.endsWith('.ndjson')) return readFileSync(target, 'utf8').split('\n').length - 1
  return readdirSync(target).filter((name) => name.endsWith('.json')).length
}

describe('two syncs at once', () => {
  for (const target of ['a folder', 'a file.ndjson']) {
    it(`are one too many for ${target}: the second is refused until the first is gone, even killed`, async (context) => {
      const path = join(market.folder, `wanted twice, ${target}`)
      const { url, asked } = await silence(context)
      const first = await runUntil(['sync', path, '--url', url], asked, { environment })
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

  it('spoil nothing if a copy cannot be locked: a message says so', async () => {
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

describe('a copy that somebody has emptied', () => {
  const anew = /^Reading the whole feed again \(nothing is left of the copy\)\.$/m

  const ways: Readonly<Record<string, (path: string) => void>> = {
    'a folder, its files removed': (path) => {
      for (const file of readdirSync(path)) if (!file.startsWith('.')) rmSync(join(path, file))
    },
    'removed.ndjson': (path) => rmSync(path),
    'emptied.ndjson': (path) => writeFileSync(path, ''),
  }
  for (const [target, empty] of Object.entries(ways)) {
    it(`is filled again by the next sync (${target})`, async () => {
      const path = join(market.folder, target)
      await runJson<Summary>(['sync', path], { environment })
      empty(path)
      const filled = await run(['sync', path, '--json'], { environment })
      assert.equal((JSON.parse(filled.stdout) as Summary).held, 5)
      assert.match(filled.stderr, anew)
      assert.equal(onDisk(path), 5)
      const { code, stdout, stderr } = await run(['sync', path], { environment })
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(stdout, '0 events read; the copy holds 5\n')
    })
  }

  it('is filled again although that was cut off between the file and its checkpoint', async (context) => {
    const path = join(market.folder, 'cut off.ndjson')
    await runJson<Summary>(['sync', path], { environment })
    const [line = ''] = readFileSync(path, 'utf8').split('\n')
    rmSync(path)
    const { url, asked } = await silence(context)
    const filling = await runUntil(['sync', path, '--url', url], asked, { environment })
    await filling.stop('SIGKILL')
    writeFileSync(path, `${line}\n`)
    assert.equal((await runJson<Summary>(['sync', path], { environment })).held, 5)
    assert.equal(onDisk(path), 5)
  })

  it('is not filled from a checkpoint that lacks what it held: that one is damaged', async () => {
    const path = join(market.folder, 'without its number')
    await runJson<Summary>(['sync', path], { environment })
    const checkpoint = join(path, '.checkpoint')
    const { held: _, ...rest } = JSON.parse(readFileSync(checkpoint, 'utf8')) as Record<string, unknown>
    const damaged = JSON.stringify(rest)
    writeFileSync(checkpoint, damaged)
    const { code, stderr } = await run(['sync', path], { environment })
    assert.equal(code, 1)
    assert.match(stderr, /The checkpoint is damaged: a member is missing or wrong\./)
    assert.equal(readFileSync(checkpoint, 'utf8'), damaged)
    assert.equal(onDisk(path), 5)
  })

  for (const target of ['a folder', 'a file.ndjson']) {
    it(`is not the same as a rightly empty one, which continues without a message (${target})`, async () => {
      const path = join(market.folder, `rightly empty, ${target}`)
      const args = ['sync', path, '--type', 'lettingsproperty']
      const synced = async () => {
        const { code, stdout, stderr } = await run([...args, '--json'], { environment })
        assert.deepEqual([code, stderr], [0, ''])
        return JSON.parse(stdout) as Summary
      }
      for (let runs = 0; runs < 2; runs += 1) assert.equal((await synced()).held, 0)
      assert.equal(onDisk(path), 0)
      await publish(property(70, { status: 6 }))
      assert.equal((await synced()).held, 1)
      await publish({ remove: { agentRef: refOf(70) } })
      const { removals, held } = await synced()
      assert.deepEqual([removals, held], [1, 0])
      assert.equal((await synced()).events, 0)
    })
  }
})

/** Counts how often the folder `COUNTED` is listed, and how many names are read from it one by one. */
const countReads = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const folder = process.env.COUNTED
  let lists = 0
  let names = 0
  for (const [module, name] of [[fs, 'readdirSync'], [fs, 'readdir'], [fs.promises, 'readdir'], [fs, 'opendirSync'], [fs, 'opendir'], [fs.promises, 'opendir']]) {
    const real = module[name]
    module[name] = (path, ...rest) => {
      if (path === folder && name !== 'opendirSync') lists += 1
      const opened = real(path, ...rest)
      if (path !== folder || name !== 'opendirSync') return opened
      return { readSync: () => { names += 1; return opened.readSync() }, closeSync: () => opened.closeSync() }
    }
  }
  syncBuiltinESMExports()
  process.on('exit', () => process.stderr.write(JSON.stringify({ lists, names })))
`)}`

describe('a folder with many properties', () => {
  const synced = async (folder: string) => {
    const { code, stdout, stderr } = await run(['sync', folder], {
      environment: { ...environment, COUNTED: folder },
      nodeArguments: ['--import', countReads],
    })
    assert.equal(code, 0, stderr)
    return { stdout, ...(JSON.parse(stderr) as { lists: number; names: number }) }
  }

  it('is not listed when nothing is new, and once when something is', async () => {
    const folder = join(market.folder, 'many')
    await publish(...Array.from({ length: 50 }, (_, index) => property(200 + index, { status: 1 })))
    const { held } = await runJson<Summary>(['sync', folder], { environment })
    const idle = await synced(folder)
    assert.equal(idle.stdout, `0 events read; the copy holds ${held}\n`)
    assert.equal(idle.lists, 0)
    assert.ok(idle.names <= 5, `${idle.names} names read`)
    // A file that somebody removed is counted as missing as soon as the names are listed.
    rmSync(join(folder, `${refOf(201)}.json`))
    await publish(property(200, { status: 2 }))
    const busy = await synced(folder)
    assert.equal(busy.stdout, `1 events read, 1 written; the copy holds ${held - 1}\n`)
    assert.equal(busy.lists, 1)
    await publish(...Array.from({ length: 50 }, (_, index) => ({ remove: { agentRef: refOf(200 + index) } })))
  })
})

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe(
  'the files of a copy, since they may contain contacts',
  { skip: process.platform === 'win32' },
  () => {
    const modesIn = (folder: string): Readonly<Record<string, string>> =>
      Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]))

    it('can be read by their owner alone, in a folder that only the owner enters', async () => {
      const folder = join(market.folder, 'new', 'for me alone')
      await runJson<Summary>(['sync', folder], { environment })
      assert.deepEqual([modeOf(folder), modeOf(join(market.folder, 'new'))], ['700', '700'])
      assert.deepEqual([...new Set(Object.values(modesIn(folder)))], ['600'])
      const file = join(market.folder, 'new', 'mine.ndjson')
      await runJson<Summary>(['sync', file], { environment })
      for (const path of [file, `${file}.checkpoint`, `${file}.lock`]) assert.equal(modeOf(path), '600', path)
    })

    it('leave nothing behind from a sync that was killed while it wrote one', async () => {
      const folder = join(market.folder, 'cut off while writing')
      await runJson<Summary>(['sync', folder], { environment })
      const theirs = join(folder, 'notes.json.new')
      for (const name of [
        `${refOf(1)}.json.new`,
        `${refOf(99)}.json.new`,
        '.checkpoint.new',
        'notes.json.new',
      ]) {
        writeFileSync(join(folder, name), '{"half')
      }
      // What it was writing is news again: its checkpoint is the one before.
      await publish(property(1, { status: 2 }))
      await runJson<Summary>(['sync', folder], { environment })
      const left = readdirSync(folder).filter((name) => name.endsWith('.new'))
      assert.deepEqual(left, ['notes.json.new'])
      assert.equal(readFileSync(theirs, 'utf8'), '{"half')
    })
  },
)
