/** Test keys from the command line on, and the market that they show (PROTOCOL §2.8). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { sandboxTenantId } from '@property-events/protocol'
import { runSandbox, sandboxStepMs } from '../src/sandbox.ts'
import { call } from '../../server/test/support/http-client.ts'
import { onEngines } from '../../server/test/support/on-engines.ts'
import { until } from '../../server/test/support/until.ts'
import {
  listEvents,
  removeFolder,
  run,
  runJson,
  start,
  temporaryFolder,
} from '../../cli/test/support/program.ts'
import { makeTenant } from '../../cli/test/support/make-tenant.ts'

const root = temporaryFolder()
after(() => removeFolder(root))

it('a developer gets a key that shows a market, and nothing of the agencies; switched off it is refused with help (P10)', async () => {
  const data = ['--data', join(root, 'store')]
  const first = await start(['serve', ...data, '--test-keys', 'https://feed.example.com/feeds/'])
  const { key } = await runJson<{ key: string }>(['keys', 'create', '--test', '--label', 'website', ...data])
  assert.match(key, /^pev_test_/)
  const { keys } = await makeTenant({ data: join(root, 'store') }, 'Hill & Co', { read: ['property:read'] })
  const list = async (url: string, one: string) => (await listEvents(url, one, 'pageSize=100')).body
  // The first market is published beside whatever the service answers by then.
  await until(async () => (await list(first.line.url, key)).availableCount >= 25, { what: '25 homes' })
  const market = await list(first.line.url, key)
  assert.ok(market.items.every((event) => event['tenantId'] === sandboxTenantId))
  assert.match(String(market.items[0]?.['payload']), /https:\/\/feed\.example\.com\/feeds\/pictures\//)
  assert.equal((await list(first.line.url, keys.read.key)).availableCount, 0)
  const drawn = await fetch(`${first.line.url}/pictures/house/HQ1/01-front.webp`)
  assert.equal(drawn.status, 200)
  await drawn.bytes()
  assert.equal((await first.stop()).code, 0)

  const second = await start(['serve', ...data])
  const refused = await fetch(`${second.line.url}/v1/heads`, { headers: { 'x-api-key': key } })
  assert.equal(refused.status, 401)
  assert.match(await refused.text(), /takes no test keys.*serve --test-keys/)
  assert.equal((await second.stop()).code, 0)

  const both = await run(['keys', 'create', '--test', '--tenant', 'Hill & Co', '--scope', 'read', ...data])
  assert.deepEqual([both.code, both.stdout], [1, ''])
  assert.match(both.stderr, /leave out --tenant and --scope/)
  const byName = await run(['keys', 'create', '--tenant', sandboxTenantId, '--scope', 'read', ...data])
  assert.match(byName.stderr, /opened by test keys alone: use --test/)
  const odd = await run(['serve', ...data, '--port', '0', '--test-keys', 'yes'])
  assert.match(odd.stderr, /--test-keys is "yes", but must be off, or the http or https address/)
})

onEngines('the market of the sandbox', { testKeys: true }, (service) => {
  it('is moved once, however many nodes do it, and only while a test key is in use (P6)', async () => {
    const { storage, service: running } = service()
    const stop = new AbortController()
    const mediaUrl = 'https://feed.example.com/pictures'
    let nowMs = Date.now()
    const said: string[] = []
    /** Runs two nodes for so many steps of half a minute. */
    const runNodes = async (steps: number): Promise<void> => {
      const clocks = [0, 1].map(() => {
        let ownMs = nowMs
        let left = steps
        const ended = new AbortController()
        return runSandbox({
          storage,
          publisher: running.publisher,
          mediaUrl,
          signal: AbortSignal.any([stop.signal, ended.signal]),
          say: (line) => said.push(line),
          clock: () => ownMs,
          pause: async (ms) => {
            ownMs += ms
            left -= 1
            if (left === 0) ended.abort()
          },
        })
      })
      await Promise.all(clocks)
      nowMs += steps * sandboxStepMs
    }
    const count = async () =>
      (await storage.events.head({ tenantId: sandboxTenantId, feed: 'property' }))?.position ?? 0

    await runNodes(20)
    const start = await count()
    assert.ok(start >= 25 && start <= 95, `${start} homes, and no change: no test key is in use`)
    const grants = [{ tenantId: sandboxTenantId, scopes: ['property:read'] }] as const
    const { text: key, keyId } = await service().issue({ grants })
    await storage.keys.recordKeyUses([{ keyId, usedMs: nowMs }])
    await runNodes(40)
    const moved = await count()
    assert.ok(moved > start && moved <= start + 41, `${moved - start} changes in 40 steps`)
    const { text } = await call(service(), '/v1/property-events?after=0&limit=1000', { key })
    const { items } = JSON.parse(text) as { items: { id: string }[] }
    assert.equal(new Set(items.map(({ id }) => id)).size, moved)
    nowMs += 2 * 3_600_000
    await runNodes(20)
    assert.equal(await count(), moved, 'nobody looks, and nothing moves')
    assert.deepEqual(said, [])
  })
})
