/** The examples of docs/consuming.md, run as they stand: killed, run again, and compared with the feed. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { FeedEvent, Publication } from '@property-events/client'
import { Client } from 'pg'
import { createPlainServer } from '../packages/client/test/support/plain-server.ts'
import { withFaults } from '../packages/client/test/support/faults.ts'
import { randomOf } from '../packages/client/test/support/random.ts'
import { testDatabases } from '../packages/server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../packages/server/test/postgres/test-databases.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'

interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Kills it if it has not ended by then. */
  readonly killAfterMs?: number
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

const folder = mkdtempSync(join(tmpdir(), 'property-events-examples-'))
const fileOf = (name: string) => join(import.meta.dirname, name)
/** Number and price of each property that is to be seen. */
type Shown = ReadonlyMap<string, readonly [number, number]>

function shownOf(latest: Iterable<readonly [string, FeedEvent]>): Shown {
  const shown = new Map<string, readonly [number, number]>()
  for (const [ref, event] of latest) {
    if (event.payload === '') continue
    const payload = JSON.parse(event.payload) as { published: boolean; price_information: { price: number } }
    if (payload.published) shown.set(ref, [event.sequenceNumber, payload.price_information.price])
  }
  return shown
}

describe('the examples', () => {
  let service: TestService
  let databases: TestDatabases
  const refs = Array.from({ length: 150 }, () => randomUUID())

  before(async () => {
    service = await startTestService()
    databases = await testDatabases()
  })
  after(async () => {
    await service.stop()
    await databases[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  const environment = () => ({
    ...process.env,
    PROPERTY_EVENTS_URL: service.url,
    PROPERTY_EVENTS_KEY: service.tenant.readKey,
    BATCH_SIZE: '10',
    PAGE_SIZE: '10',
  })

  async function publishRound(round: number): Promise<void> {
    const publisher = createClient({ baseUrl: service.url, key: service.tenant.publishKey })
    await publisher.publish(
      refs.map((agent_ref, index): Publication => ({
        payload: {
          agent_ref,
          published: (index + round) % 75 !== 0,
          price_information: { price: round * 1_000 + index },
          address: { display_address: `${index} Mill Lane` },
          details: { bedrooms: index % 5, summary: 'A house.', obligations: [] },
          media: [{ media_type: 1, media_url: `https://photos.example/${index}.jpg` }],
        },
      })),
    )
  }

  async function feedNow(): Promise<Shown> {
    const latest = new Map<string, FeedEvent>()
    const reader = createClient({ baseUrl: service.url, key: service.tenant.readKey })
    for await (const event of reader.list({ pageSize: 1_000 })) latest.set(event.transactionId, event)
    return shownOf(latest)
  }

  async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = spawn(program, args, { env: { ...environment(), ...options.environment } })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text) => (stdout += String(text)))
    child.stderr.on('data', (text) => (stderr += String(text)))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
    })
    if (options.killAfterMs !== undefined) {
      await Promise.race([ended, delay(options.killAfterMs)])
      child.kill('SIGKILL')
    }
    return ended
  }

  /** Round after round of changes, with runs that are killed in between; the last one ends by itself. */
  async function keep(
    start: (options?: RunOptions) => Promise<Ended>,
    killed: () => Promise<void>,
    shown: () => Promise<Shown> | Shown,
  ): Promise<void> {
    for (let round = 1; round <= 3; round += 1) {
      await publishRound(round)
      await killed()
      const last = await start()
      assert.equal(last.code, 0, last.stderr)
      assert.deepEqual(await shown(), await feedNow())
    }
  }

  /** The same for a program of Node, killed around its commits. */
  async function keepByNode(
    example: string,
    target: string,
    shown: () => Promise<Shown> | Shown,
  ): Promise<void> {
    const start = (options: RunOptions = {}) =>
      run(process.execPath, ['--import', fileOf('kill-at-commit.ts'), fileOf(example), target], options)
    let round = 10
    const killed = async () => {
      for (const moment of ['before', 'after', 'before', 'after']) {
        await publishRound((round += 1))
        const { signal, stderr } = await start({ environment: { KILL_AT_COMMIT: `${moment} 1` } })
        assert.equal(signal, 'SIGKILL', stderr)
      }
    }
    await keep(start, killed, shown)
  }

  it('keep a property table in SQLite through kill -9, checkpoint and table in one transaction', async () => {
    const path = join(folder, 'website.db')
    await keepByNode('property-table-sqlite.ts', path, () => {
      const database = new DatabaseSync(path)
      const rows = database.prepare('SELECT agent_ref, sequence_number, price FROM property').all()
      const photographs = database
        .prepare('SELECT count(*) AS n FROM property WHERE photograph IS NOT NULL')
        .get()
      database.close()
      assert.equal(photographs?.['n'], rows.length)
      return new Map(
        rows.map((row) => [String(row['agent_ref']), [Number(row['sequence_number']), Number(row['price'])]]),
      )
    })
  })

  it('keep a property table in PostgreSQL through kill -9, checkpoint and table in one transaction', async () => {
    const url = await databases.create()
    await keepByNode('property-table-postgres.ts', url, async () => {
      const database = new Client({ connectionString: url })
      await database.connect()
      const { rows } = await database.query<Record<string, string>>(
        'SELECT agent_ref, sequence_number, price FROM property',
      )
      await database.end()
      return new Map(
        rows.map((row) => [row['agent_ref'] ?? '', [Number(row['sequence_number']), Number(row['price'])]]),
      )
    })
  })

  const hasPhp = spawnSync('php', ['--version']).status === 0
  /** Without PHP these cannot be tried, and each says so. */
  const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }
  const shownByPhp = (path: string): Shown => {
    const { properties } = JSON.parse(readFileSync(path, 'utf8')) as {
      properties: Record<string, { number: number; payload: { price_information: { price: number } } }>
    }
    return new Map(
      Object.entries(properties).map(([ref, { number, payload }]) => [
        ref,
        [number, payload.price_information.price],
      ]),
    )
  }

  it('keep a copy with one file of PHP through kill -9, by the reads of the service', withPhp, async () => {
    const path = join(folder, 'properties.json')
    const start = (options?: RunOptions) => run('php', [fileOf('php/copy-to-file.php'), path], options)
    let kills = 0
    // As long as a run takes here that finds little to do, so that a part of it is over before any run ends.
    let wholeMs = Number.POSITIVE_INFINITY
    for (let times = 0; times < 3; times += 1) {
      const startedMs = performance.now()
      assert.equal((await start()).code, 0)
      wholeMs = Math.min(wholeMs, performance.now() - startedMs)
    }
    const killed = async () => {
      for (const part of [0.3, 0.5, 0.7, 0.9, 1.2]) {
        const { code, signal, stderr } = await start({ killAfterMs: part * wholeMs })
        assert.ok(code === 0 || signal === 'SIGKILL', stderr)
        if (signal === 'SIGKILL') kills += 1
      }
    }
    await keep(start, killed, () => shownByPhp(path))
    assert.ok(kills > 0, 'none of the runs was killed before its end')
    // A new epoch: the numbers of before cannot be continued, and the copy is read anew.
    await service.storage.startEpoch(1_000_000, 'cli:example')
    await publishRound(4)
    const last = await start()
    assert.equal(last.code, 0, last.stderr)
    assert.deepEqual(shownByPhp(path), await feedNow())
  })

  for (const order of ['ascending', 'descending'] as const) {
    it(
      `keep a copy with one file of PHP from a plain server that lists ${order} and fails now and then`,
      withPhp,
      async () => {
        const random = randomOf(order.length)
        let restless = 30
        const plain = createPlainServer({
          random,
          order,
          orderBy: 'created',
          beforeRequest: () => {
            if (restless > 0) plain.publish()
            restless -= 1
          },
        })
        for (let left = 60; left > 0; left -= 1) plain.publish()
        // Stalled answers would be waited for; the other faults pass quickly.
        const network = withFaults(plain.fetch, { random, share: 0.1, without: ['stall', 'reset', 'cut'] })
        async function serve(path: string, response: ServerResponse): Promise<void> {
          const answer = await network(`http://x.example${path}`)
          response.writeHead(answer.status, { 'content-type': 'application/json', 'retry-after': '0' })
          response.end(await answer.text())
        }
        const server = createServer((request, response) => void serve(request.url ?? '', response))
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        const address = server.address()
        assert.ok(typeof address === 'object' && address !== null)
        const path = join(folder, `${order}.json`)
        const php = () =>
          run('php', [fileOf('php/copy-to-file.php'), path], {
            environment: {
              PROPERTY_EVENTS_URL: `http://127.0.0.1:${address.port}`,
              PROPERTY_EVENTS_KEY: 'k',
            },
          })
        for (let turn = 0; turn < 3; turn += 1) {
          const { code, stderr } = await php()
          assert.equal(code, 0, stderr)
          plain.publish()
        }
        restless = 0
        plain.settle()
        const { code, stderr } = await php()
        server.close()
        server.closeAllConnections()
        assert.equal(code, 0, stderr)
        assert.deepEqual(shownByPhp(path), shownOf(plain.fold()))
      },
    )
  }
})
