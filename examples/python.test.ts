/** The example in Python against a real service: its table is the feed, through removals, kills, erasure and a new epoch. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { call, publish } from '../packages/server/test/support/http-client.ts'
import { property } from '../packages/server/test/support/property.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'
import { until } from '../packages/server/test/support/until.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
const skip = hasPython ? false : 'python3 is not installed here (apt-get install python3): not tried'
const program = join(import.meta.dirname, 'python/poll_feed.py')

describe('the example in Python', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-python-'))
  const file = join(folder, 'properties.db')
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const start = (args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) => {
    const env = {
      ...process.env,
      PROPERTY_EVENTS_URL: service.url,
      PROPERTY_EVENTS_KEY: service.tenant.readKey,
      ...environment,
    }
    const child = spawn('python3', [program, file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let words = ''
    for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (text) => (words += String(text)))
    const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal, words }))
    return { child, ended }
  }

  function rows(): Readonly<Record<string, string>> {
    if (!existsSync(file)) return {}
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      const all = db.prepare('SELECT agent_ref, payload FROM property').all()
      return Object.fromEntries(all.map((row) => [String(row['agent_ref']), String(row['payload'])]))
    } catch {
      return {}
    } finally {
      db.close()
    }
  }

  /** What the feed shows: the latest payload of each property that is published. */
  async function shown(): Promise<Readonly<Record<string, string>>> {
    const { text } = await call(service, '/v1/property-events?limit=1000', { key: service.tenant.readKey })
    const { items } = JSON.parse(text) as { items: { transactionId: string; payload: string }[] }
    const latest = new Map(items.map(({ transactionId, payload }) => [transactionId, payload]))
    return Object.fromEntries([...latest].filter(([, payload]) => !payload.includes('"published":false')))
  }

  async function copied(): Promise<string> {
    const { code, words } = await start(['--once']).ended
    assert.equal(code, 0, words)
    assert.deepEqual(rows(), await shown())
    return words
  }

  it('copies the feed, byte for byte, and then only what is new (PROTOCOL §11.1, P9)', async () => {
    const homes = [1, 2, 3, 4].map(() => property())
    const [first, second] = homes
    await publish(
      service,
      homes.map((payload) => ({ payload: { ...payload, title: 'Tŷ Gwyn – £1,250 pcm 🏡' } })),
    )
    assert.match(await copied(), /the copy holds 4/)
    await publish(service, [
      { payload: { ...first, title: '“Llwyn Onn”, £435,000' } },
      { remove: { agentRef: String(second?.['agent_ref']), reason: 9 } },
    ])
    assert.match(await copied(), /the copy holds 3/)
  })

  it('follows within moments, outlives a kill, and ends with 0 when it is stopped (PROTOCOL §13.1)', async () => {
    const killed = start()
    await publish(service, { payload: property() })
    await until(async () => Object.keys(rows()).length === 4, { what: 'the fourth row', timeoutMs: 30_000 })
    killed.child.kill('SIGKILL')
    await killed.ended
    await publish(service, [{ payload: property() }, { payload: property() }])
    const follower = start()
    await until(async () => Object.keys(rows()).length === 6, { what: 'six rows', timeoutMs: 30_000 })
    follower.child.kill('SIGTERM')
    assert.equal((await follower.ended).code, 0)
    assert.deepEqual(rows(), await shown())
  })

  it('drops an erased property, and reads the feed again in a new epoch (D13, D17)', async () => {
    const [reference = ''] = Object.keys(rows())
    const body = { feed: 'property', subjectId: reference, reason: 'published_in_error' }
    const erasing = await call(service, '/v1/erasures', {
      method: 'POST',
      key: service.tenant.eraseKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(erasing.status, 202, erasing.text)
    await copied()
    assert.ok(!Object.hasOwn(rows(), reference))
    await service.storage.startEpoch(1_000, 'cli:test')
    await publish(service, { payload: property() })
    assert.match(await copied(), /reading the whole feed again/)
    assert.doesNotMatch(await copied(), /reading the whole feed again/)
  })

  it('says what is wrong with its key, in a sentence (PROTOCOL §2.4)', async () => {
    const { code, words } = await start(['--once'], { PROPERTY_EVENTS_KEY: 'pev_wrong' }).ended
    assert.equal(code, 1)
    assert.match(words, /^401: .+\n$/)
    assert.match((await start([], { PROPERTY_EVENTS_URL: '' }).ended).words, /PROPERTY_EVENTS_URL=/)
  })
})
