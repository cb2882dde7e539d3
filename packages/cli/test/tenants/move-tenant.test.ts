/** One tenant moved from one cluster to another while both are used: `copy --tenant`. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { setTimeout as delay } from 'node:timers/promises'
import { launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { inSchema } from '../../../server/test/postgres/test-databases.ts'
import { withClient } from '../../../server/test/postgres/support/standby.ts'
import { startFront } from '../support/front.ts'
import type { Front } from '../support/front.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import {
  finished,
  removeFolder,
  run,
  runJson,
  runUntil,
  spawnProgram,
  start,
  temporaryFolder,
} from '../support/program.ts'
import type { Running } from '../support/program.ts'
import { until } from '../../../server/test/support/until.ts'
import { checkTenant, loadTenant, patientClient, publication } from '../support/tenant-load.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const inLongRun = { skip: isLong ? false : 'only in npm run test:long' } as const
const kills = isLong ? 25 : 2
const pepper = 'one for both clusters'

interface Cluster {
  readonly address: string
  readonly environment: Readonly<Record<string, string>>
  /** Two nodes, as each thread of the load may meet either. */
  readonly urls: readonly string[]
}

describe('moving a tenant between two clusters', () => {
  const root = temporaryFolder()
  const servers: LaunchedPostgres[] = []
  const running: Running[] = []
  let front: Front
  before(async () => {
    servers.push(...(await Promise.all([launchPostgres(), launchPostgres()])))
    front = await startFront()
  })
  // Nodes that serve on would take processor time from the tests after theirs.
  afterEach(async () => {
    for (const node of running.splice(0)) await node.stop('SIGKILL')
  })
  after(async () => {
    await front[Symbol.asyncDispose]()
    for (const server of servers) await server[Symbol.asyncDispose]()
    removeFolder(root)
  })

  async function cluster(server: number, nodes = 1, keyPepper = pepper): Promise<Cluster> {
    const schema = `moving_${randomUUID().replaceAll('-', '')}`
    const plain = servers[server]?.url() ?? ''
    await withClient(plain, (client) => client.query(`CREATE SCHEMA ${schema}`))
    const address = inSchema(plain, schema)
    const environment = { PROPERTY_EVENTS_DATABASE: address, PROPERTY_EVENTS_KEY_PEPPER: keyPepper }
    const urls: string[] = []
    for (let node = 0; node < nodes; node += 1) {
      const args = ['serve', '--data', join(root, randomUUID()), '--rate-limit', 'off']
      const one = await start(args, { environment })
      running.push(one)
      urls.push(one.line.url)
    }
    return { address, environment, urls }
  }

  async function tenant({ environment }: Cluster, name: string): Promise<{ id: string; key: string }> {
    const { tenantId, keys } = await makeTenant(placeOf(environment), name, { both: ['read', 'publish'] })
    return { id: tenantId, key: keys.both.key }
  }

  function move(name: string, from: Cluster, to: Cluster, ...more: readonly string[]) {
    return ['copy', '--tenant', name, '--from', from.address, '--to', to.address, ...more]
  }

  it('under load loses nothing, gives nothing twice, and disturbs no other tenant (P1, P3, P7, P9)', async () => {
    const [a, b] = [await cluster(0, 2), await cluster(1)]
    const moving = await tenant(a, 'Moving')
    const neighbours = [
      { ...(await tenant(a, 'Staying')), url: a.urls[0] ?? '' },
      { ...(await tenant(b, 'There before')), url: b.urls[0] ?? '' },
    ]
    front.route(moving.key, a.urls[0] ?? '')
    const load = loadTenant(front.url, moving.key, 3)
    const others = neighbours.map(({ url, key }) => loadTenant(url, key, 1))
    await until(() => load.seen.acknowledged.size > 60)
    const refused: string[] = []
    const probing = probe(a.urls[1] ?? '', moving.key, refused)
    const moved = await runJson<{ feeds: { events: number }[]; keys: number; closedMs: number }>(
      move('Moving', a, b),
    )
    assert.ok((moved.feeds[0]?.events ?? 0) > 60)
    assert.equal(moved.keys, 1)
    assert.deepEqual(
      await probing,
      ['503 tenant_moving 2'],
      'the other node of the source has closed as well',
    )
    // Readers that are late are told so where a later event could be missed, and read on elsewhere.
    const late = await fetch(
      `${a.urls[1]}/api/func/api/v1/events/getevents?from=2000-01-01T00:00:00&pageSize=1`,
      {
        headers: { 'x-api-key': moving.key },
      },
    )
    assert.equal(late.status, 503, await late.text())
    // Publishers that are refused have come back by now, some of them twice.
    await delay(300)
    front.route(moving.key, b.urls[0] ?? '')
    const before = load.seen.acknowledged.size
    await until(() => load.seen.acknowledged.size > before + 60)
    const seen = await load.stop()
    assert.ok(checkTenant(seen) >= before + 60)
    // The bytes of what was moved are the same in both.
    const [here, there] = await Promise.all(
      [a, b].map(async ({ urls: [url = ''] }) => {
        const page = await fetch(`${url}/api/func/api/v1/events/getevents?pageSize=50`, {
          headers: { 'x-api-key': moving.key },
        })
        return (await page.text()).replace(/"(availableCount|totalPages)":\d+/g, '')
      }),
    )
    assert.equal(here, there)
    for (const other of others) checkTenant(await other.stop())
    assert.deepEqual(refused, [], 'nothing was stored in both')

    // Once more: it is there already. And back, with what came since.
    await runJson(move('Moving', a, b))
    const back = await runJson<{ feeds: { events: number }[] }>(move('Moving', b, a))
    assert.equal(back.feeds[0]?.events, seen.byPages.length)
    const again = patientClient(a.urls[0] ?? '', moving.key)
    const { events } = await again.publish(publication(randomUUID(), 'at home again'))
    assert.equal(events[0]?.sequenceNumber, seen.byPages.length + 1)
  })

  it('continues after the command was killed at any moment, and is never published in both (P7, P9)', async () => {
    const [a, b] = [await cluster(0), await cluster(1)]
    const moving = await tenant(a, 'Moving')
    front.route(moving.key, a.urls[0] ?? '')
    const load = loadTenant(front.url, moving.key, 2)
    await until(() => load.seen.acknowledged.size > 30)
    let cutOff = 0
    for (let cycle = 0; cycle < kills; cycle += 1) {
      const before = await stateIn(b)
      // The first run is killed before it has brought anything, however quick it is.
      const release = cycle === 0 ? await holdEvents(b) : undefined
      // From the moment it has begun with the target; the kills are spread over what comes then.
      const begun = async (): Promise<void> => {
        // The tenant is made there first, and is at home there for a moment.
        const hasBegun = (state: string | null | undefined) =>
          state !== before && state?.startsWith('arriving') === true
        await until(async () => hasBegun(await stateIn(b)), { what: 'a run in the target', everyMs: 5 })
        await delay((cycle * 240) / kills)
      }
      const killed = await runUntil(move('Moving', a, b), begun())
        .then((command) => command.stop('SIGKILL'))
        .catch(() => undefined)
      const state = await stateIn(b)
      await release?.()
      // The run that was killed has the turn of retention for ten seconds more; only the long form lets them pass.
      if (!isLong) await endTurn(a)
      if (killed?.code === null && state?.startsWith('arriving') === true) cutOff += 1
      const stored = [await stores(a, moving.key), await stores(b, moving.key)]
      assert.ok(stored.filter(Boolean).length < 2, 'published in both')
      if (state === null) break
    }
    assert.ok(cutOff > 0, 'a run was cut off in the middle')
    const ended = await run(move('Moving', a, b))
    assert.equal(ended.code, 0, ended.stderr)
    // The looks above have asked the target with a key that it did not have: it looks again within 2 s.
    await until(async () => {
      const headers = { 'x-api-key': moving.key }
      return (await fetch(`${b.urls[0]}/v1/heads`, { headers })).status === 200
    })
    front.route(moving.key, b.urls[0] ?? '')
    const before = load.seen.acknowledged.size
    await until(() => load.seen.acknowledged.size > before + 20)
    checkTenant(await load.stop())
  })

  it('reports obstacles before it changes anything, and takes a tenant back', async () => {
    const [a, b] = [await cluster(0), await cluster(1, 1, 'another pepper, there')]
    const moving = await tenant(a, 'Moving')
    const client = patientClient(a.urls[0] ?? '', moving.key)
    await client.publish(publication(randomUUID(), 'first'))
    const foreign = await run(move('Moving', a, b))
    assert.equal(foreign.code, 1)
    assert.match(foreign.stderr, /another pepper than the target's.*Nothing was changed/s)
    const { environment } = b
    assert.deepEqual(await runJson(['tenants', 'list'], { environment }), [])
    assert.equal((await run(move('Nobody', a, b))).code, 1)
    assert.match((await run(['copy', '--from', a.address, '--to', b.address, '--reopen'])).stderr, /--tenant/)
    assert.match((await run(move('Moving', a, b, '--reopen'))).stderr, /open in the source already/)
    const left = await runJson<{ keys: number }>(move('Moving', a, b, '--without-keys'))
    assert.equal(left.keys, 0)
    const [listed] = await runJson<{ move?: string }[]>(['tenants', 'list'], { environment: a.environment })
    assert.equal(listed?.move, 'left')
    const tooLate = await run(move('Moving', a, b, '--reopen'))
    assert.equal(tooLate.code, 1)
    assert.match(tooLate.stderr, /published in the target by now.*other way round/s)
    const elsewhere = await cluster(1)
    const lost = await run(move('Moving', a, elsewhere))
    assert.match(lost.stderr, /has left the source for another store/)
    const gone = await run(['copy', '--tenant', 'Moving', '--from', a.address, '--reopen'])
    assert.equal(gone.code, 0, gone.stderr)
    const { events } = await client.publish(publication(randomUUID(), 'second'))
    assert.equal(events[0]?.sequenceNumber, 2)
    const both = await run(move('Moving', a, b))
    assert.match(both.stderr, /open in both stores/)
  })

  it('says how far the move is when a cluster is lost in the middle, and continues when it is back (P7, P9)', async () => {
    const [a, b] = [await cluster(0), await cluster(1)]
    const moving = await tenant(a, 'Moving')
    const client = patientClient(a.urls[0] ?? '', moving.key)
    const many = Array.from({ length: 4_000 }, (_, n) => publication(randomUUID(), `${n}`.repeat(100)))
    await client.publish(many)
    const command = run(move('Moving', a, b))
    const begun = async () => (await stateIn(b))?.startsWith('arriving') === true
    await until(begun, { what: 'the first events in the target', everyMs: 5 })
    await servers[1]?.halt('crash')
    const ended = await command
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /published in the source as before.*Run the same command again/)
    assert.equal(await stores(a, moving.key), true)
    await servers[1]?.start()
    const again = await runJson<{ feeds: { events: number }[] }>(move('Moving', a, b))
    assert.equal(again.feeds[0]?.events, 4_001)
    assert.deepEqual([await stores(a, moving.key), await stores(b, moving.key)], [false, true])
  })

  it('makes publish wait, which continues where the tenant is then (PROTOCOL §5.8)', async () => {
    const [a, b] = [await cluster(0), await cluster(1)]
    const moving = await tenant(a, 'Moving')
    front.route(moving.key, a.urls[0] ?? '')
    const file = join(root, `${randomUUID()}.ndjson`)
    const payloads = [1, 2].map((price) => ({ agent_ref: randomUUID(), published: true, price }))
    writeFileSync(file, payloads.map((payload) => JSON.stringify({ payload })).join('\n'))
    const moved = await run(move('Moving', a, b))
    assert.equal(moved.code, 0, moved.stderr)
    const environment = { PROPERTY_EVENTS_URL: front.url, PROPERTY_EVENTS_KEY: moving.key }
    const publishing = spawnProgram(['publish', file, '--json'], { environment })
    const ended = finished(publishing)
    let said = ''
    publishing.stderr?.on('data', (part: string) => (said += part))
    await until(() => /moved to another store/.test(said), { what: 'a word about the move' })
    front.route(moving.key, b.urls[0] ?? '')
    const { code, stdout, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /503, tenant_moving/)
    assert.equal((JSON.parse(stdout) as { published: number }).published, 2)
    const { items } = await patientClient(b.urls[0] ?? '', moving.key).after({ after: 0 })
    assert.deepEqual(
      items.map(({ payload }) => payload),
      payloads.map((payload) => JSON.stringify(payload)),
    )
    const { items: left } = await patientClient(a.urls[0] ?? '', moving.key).after({ after: 0 })
    assert.deepEqual(left, [], 'nothing is stored in the source')
  })

  it('works between a data folder and a cluster, in both directions (P9, P12)', inLongRun, async () => {
    const b = await cluster(1)
    const folder = join(root, randomUUID())
    const environment = { PROPERTY_EVENTS_DATA: folder, PROPERTY_EVENTS_KEY_PEPPER: pepper }
    const served = await start(['serve', '--metrics-port', '0'], { environment })
    running.push(served)
    const a: Cluster = { address: folder, environment, urls: [served.line.url] }
    const moving = await tenant(a, 'Moving')
    front.route(moving.key, served.line.url)
    const load = loadTenant(front.url, moving.key, 2)
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const before = load.seen.acknowledged.size
      await until(() => load.seen.acknowledged.size > before + 20)
      const moved = await run(move('Moving', from, to))
      assert.equal(moved.code, 0, moved.stderr)
      assert.match(moved.stdout, /^Moved tenant .* to the target, with 1 keys/m)
      front.route(moving.key, to.urls[0] ?? '')
    }
    const before = load.seen.acknowledged.size
    await until(() => load.seen.acknowledged.size > before + 20)
    checkTenant(await load.stop())
  })
})

/** Publishes straight to a node until it is refused; answers with the refusal. What is stored after it is noted. */
async function probe(url: string, key: string, after: string[]): Promise<readonly string[]> {
  const found = new Set<string>()
  for (let more = 3; more > 0;) {
    const id = randomUUID()
    const answer = await post(url, key, id)
    if (answer.status === 201 && found.size > 0) after.push(id)
    if (answer.status === 201) continue
    const { code } = (await answer.json()) as { code: string }
    found.add(`${answer.status} ${code} ${answer.headers.get('retry-after')}`)
    more -= 1
    await delay(20)
  }
  return [...found]
}

function post(url: string, key: string, id: string): Promise<Response> {
  const { payload } = publication(id, 'a probe') as { payload: string }
  return fetch(`${url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ id, payload }),
  })
}

/** Where the only tenant of a cluster stands; `null`: at home, `undefined`: there is none. */
function stateIn({ address }: Cluster): Promise<string | null | undefined> {
  return withClient(address, async (client) => {
    const { rows } = await client.query<{ move: string | null }>('SELECT move FROM feed LIMIT 1')
    return rows[0]?.move
  })
}

async function endTurn({ address }: Cluster): Promise<void> {
  await withClient(address, (client) => client.query('UPDATE thin_turn SET until_ms = 0'))
}

/** No event can be written until what it answers is called. */
async function holdEvents({ address }: Cluster): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: address })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE event IN EXCLUSIVE MODE')
  return () => client.end()
}

async function stores({ urls: [url = ''] }: Cluster, key: string): Promise<boolean> {
  return (await post(url, key, randomUUID())).status === 201
}
