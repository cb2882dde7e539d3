/** What a crash of the database takes from nodes that send on is sent again: none of them goes on from what is no longer there (W1). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { NewEndpoint } from '../../src/webhooks/endpoint.ts'
import { withTenants } from '../store/support/stores.ts'
import { eventNamed, leaseMs, progressOf, withEndpoint } from '../store/support/webhooks.ts'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'
import { withClient } from './support/standby.ts'

/** The process that writes down commits that did not wait for it. */
async function walWriter(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const query = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`
    const { rows } = await client.query<{ readonly pid: number }>(query)
    const [row] = rows
    assert.ok(row !== undefined)
    return row.pid
  })
}

it('that a crash of the database loses is begun anew, and a sender that lives on writes nothing over it (W1, W5)', async () => {
  await using server = await launchPostgres()
  const options = { kind: 'postgres', url: server.url(), readConnections: 1, create: true } as const
  await using store = await withTenants(await openStorage({ ...options, catalogue: catalogues.default }))
  const { webhooks } = store
  const [waits, ends, goesOn] = [
    await withEndpoint(store),
    await withEndpoint(store),
    await withEndpoint(store),
  ]
  const node = randomUUID()
  const leases = await webhooks.claim(node, 9, leaseMs)
  const progress = ({ endpointId }: NewEndpoint, words: Parameters<typeof progressOf>[1]) => {
    const lease = leases.find(({ endpoint }) => endpoint.endpointId === endpointId)
    assert.ok(lease)
    return progressOf(lease, words)
  }
  const event = eventNamed('Tŷ Gwyn', 101)
  const row = { ...event, tries: 1, nextTryMs: 0 }

  const writer = await walWriter(server.url())
  process.kill(writer, 'SIGSTOP')
  await webhooks.save([progress(ends, { settled: 101, disable: 'gone' })])
  await webhooks.save([progress(waits, { settled: 101, rows: { waiting: [row] }, versions: [event] })])
  await webhooks.save([progress(goesOn, { settled: 120 })])
  // The server ends all its processes then, and begins with what is on the disk.
  process.kill(writer, 'SIGKILL')

  const settledOf = async ({ endpointId }: NewEndpoint) => (await webhooks.find(endpointId))?.progress.settled
  await until(async () => (await settledOf(goesOn).catch(() => undefined)) === 100, {
    what: 'the loss of the last number',
  })
  const after = [progress(waits, { settled: 110 }), progress(goesOn, { settled: 130 })]
  assert.deepEqual(await webhooks.save(after), [waits.endpointId, goesOn.endpointId])
  await webhooks.release(node)
  const again = await webhooks.claim(randomUUID(), 9, leaseMs)
  const found = again.map(({ waiting, endpoint }) => [endpoint.progress.settled, waiting])
  assert.deepEqual(found, [
    [100, []],
    [100, []],
    [100, []],
  ])
})
