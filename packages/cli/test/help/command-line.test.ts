/** What holds for every command: output that is cut, options given twice, targets that cannot be what they look like. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { until } from '../../../server/test/support/until.ts'
import { removeFolder, run, runCut, startCut, startMarket, temporaryFolder } from '../support/program.ts'
import type { Market } from '../support/program.ts'

let market: Market
let publishing: Readonly<Record<string, string>>
let reading: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  publishing = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.publishKey }
  reading = { ...publishing, PROPERTY_EVENTS_KEY: market.readKey }
})
const started: ChildProcess[] = []
after(async () => {
  // Only after a failure is one of them still there.
  for (const child of started) child.kill('SIGKILL')
  await market.close()
})

const event = (n: number, more: object = {}) =>
  JSON.stringify({
    payload: {
      agent_ref: `7d1c3a54-5c1e-4c4f-8e0b-${String(n).padStart(12, '0')}`,
      published: true,
      ...more,
    },
  })

describe('output whose reader goes away', () => {
  it('leaves the exit code of publish as it is: refused lines are refused (P11)', async () => {
    const file = join(market.folder, 'refused.ndjson')
    writeFileSync(file, `${event(1)}\n${event(2, { agent_ref: 'no reference' })}\n`)
    for (const more of [[], ['--json']]) {
      assert.equal((await run(['publish', file, ...more], { environment: publishing })).code, 1)
      assert.equal(await runCut(['publish', file, ...more], { environment: publishing }), 1)
    }
    const good = join(market.folder, 'good.ndjson')
    writeFileSync(good, `${event(3)}\n`)
    assert.equal(await runCut(['publish', good], { environment: publishing }), 0)
  })

  it('leaves the exit code of a sync that was stopped early', async () => {
    // Answers what is asked first, and then nothing.
    const silent = createServer((request, response) => {
      if (request.url?.startsWith('/v1/') === true) return response.writeHead(404).end('{}')
      asked()
      return undefined
    }).listen(0, '127.0.0.1')
    silent.unref()
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>()
    await new Promise((resolve) => silent.once('listening', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const sync = startCut(['sync', join(market.folder, 'stopped'), '--url', url], { environment: reading })
    started.push(sync.child)
    await Promise.race([isAsked, sync.ended])
    sync.child.kill('SIGINT')
    assert.equal(await sync.ended, 130)
  })

  it('does not end a service that has announced itself', async () => {
    const folder = temporaryFolder()
    const [port = 0] = await freePorts(1)
    const args = ['serve', '--port', String(port), '--data', folder, '--metrics-port', '0', '--drain', '0']
    const service = startCut(args)
    started.push(service.child)
    let answers = 0
    const hasAnswered = async (): Promise<boolean> => {
      const answer = await fetch(`http://127.0.0.1:${port}/docs`).catch(() => undefined)
      if (answer?.status === 200) answers += 1
      return answers === 20 || service.child.exitCode !== null
    }
    await until(hasAnswered, { what: '20 answers', everyMs: 25 })
    assert.deepEqual([answers, service.child.exitCode], [20, null])
    service.child.kill('SIGTERM')
    assert.equal(await service.ended, 0)
    removeFolder(folder)
  })

  it('ends a list and what is made up without a word, as is usual', async () => {
    assert.equal(await runCut(['generate', '--events', '100000']), 0)
    assert.equal(await runCut(['events', 'list'], { environment: reading }), 0)
  })
})

describe('an option given twice', () => {
  it('is refused where only the last would count, and nothing is done', async () => {
    const data = ['--data', market.folder]
    const keys = async () => (await run(['keys', 'list', ...data])).stdout.split('\n').length
    const before = await keys()
    const twice: readonly (readonly [string, readonly string[]])[] = [
      ['--tenant', ['keys', 'list', '--tenant', 'Hill & Co', '--tenant', market.tenantId, ...data]],
      [
        '--label',
        ['keys', 'create', '--tenant', 'Hill & Co', '--label=a', '--label=b', '--scope', 'read', ...data],
      ],
      ['--data', ['tenants', 'create', 'X', ...data, ...data]],
      ['--type', ['events', 'list', '--type', 'salesproperty', '--type', 'lettingsproperty']],
      ['--feed', ['sync', join(market.folder, 'twice'), '--feed', 'property', '--feed', 'contact']],
      ['--format', ['publish', '--format', 'json', '--format', 'ndjson']],
      ['--events', ['generate', '--events', '1', '--events', '2']],
      ['--port', ['doctor', '--port', '0', '--port', '1', ...data]],
      ['--key', ['events', 'list', '--key', market.readKey, '--key', market.publishKey]],
    ]
    await Promise.all(
      twice.map(async ([option, args]) => {
        const { code, stdout, stderr } = await run(args, { environment: reading })
        assert.deepEqual([code, stdout], [1, ''], args.join(' '))
        assert.match(stderr, new RegExp(`${option} is given twice.* Give it once`), args.join(' '))
        for (const key of [market.readKey, market.publishKey]) assert(!stderr.includes(key))
      }),
    )
    assert.equal(await keys(), before)
    assert(!existsSync(join(market.folder, 'twice')))
  })

  it('is fine where each counts, and where twice says the same', async () => {
    const scopes = ['--scope', 'property:read', '--scope', 'contact:read']
    const key = await run([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      ...scopes,
      '--json',
      '--json',
      '--data',
      market.folder,
    ])
    assert.equal(key.code, 0, key.stderr)
    const { grants } = JSON.parse(key.stdout) as { grants: readonly { scopes: readonly string[] }[] }
    assert.deepEqual(grants[0]?.scopes, ['property:read', 'contact:read'])
  })
})

describe('sync to a name that looks like another kind of file', () => {
  for (const [name, expected] of [
    ['x.csv', /writes no CSV/],
    ['x.json', /writes no JSON file/],
    ['x.jsonl', /NDJSON.*x\.ndjson/],
    ['x.XML', /writes no XML/],
    ['x.blm', /writes no BLM/],
    ['x.xlsx', /writes no spreadsheet/],
    ['x.ndjson.gz', /writes no archive/],
    ['x.NDJSON', /x\.ndjson/],
    ['x.txt', /writes no text/],
  ] as const) {
    it(`refuses ${name}, and says what to write`, async () => {
      const target = join(market.folder, name)
      const { code, stdout, stderr } = await run(['sync', target], { environment: reading })
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, expected)
      // What to write is a line that works.
      assert(stderr.includes(`sync ${join(market.folder, 'x')}\``), stderr)
      assert(stderr.includes(`sync ${join(market.folder, 'x')}.ndjson\``), stderr)
      assert(!existsSync(target))
    })
  }

  it('keeps a folder that is there, and one with a dot that means something else', async () => {
    const old = join(market.folder, 'made-before.db')
    mkdirSync(old)
    for (const target of [old, join(market.folder, 'www.hill.example'), join(market.folder, 'v1.2')]) {
      const { code, stderr } = await run(['sync', target], { environment: reading })
      assert.equal(code, 0, stderr)
    }
  })
})
