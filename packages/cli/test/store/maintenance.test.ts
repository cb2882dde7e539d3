/** Planned work: publishing is stopped over every node of a store, and stays stopped through restarts. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import type { StorePlace } from '../support/make-tenant.ts'
import {
  listEvents,
  removeFolder,
  run,
  runJson,
  runPrinted,
  start,
  temporaryFolder,
} from '../support/program.ts'
import type { Running } from '../support/program.ts'

interface Found {
  readonly check: string
  readonly status: string
  readonly remedy?: string
}

const root = temporaryFolder()
const started: Running[] = []

async function serve(...[args, options]: Parameters<typeof start>): Promise<Running> {
  const running = await start(['serve', ...args], options)
  started.push(running)
  return running
}

async function publish(
  { line }: Running,
  key: string,
): Promise<{ status: number; retryAfter: string | null }> {
  const answer = await fetch(`${line.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } }),
  })
  await answer.text()
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
}

const refused = { status: 503, retryAfter: '45' }

async function keysOf(place: StorePlace) {
  const { keys } = await makeTenant(place, 'Hill & Co', { read: ['read'], publish: ['publish'] })
  return { read: keys.read.key, publish: keys.publish.key }
}

describe('maintenance by the command line', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('has stopped publishing on every node when the command returns, and survives their restart (P12)', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const node = (name: string) => serve(['--data', join(root, name)], { environment })
    const nodes = [await node('one'), await node('two')]
    const keys = await keysOf(placeOf(environment))
    for (const one of nodes) assert.equal((await publish(one, keys.publish)).status, 201)
    const on = ['maintenance', 'on', '--retry-after', '45']
    const said = await runJson<{ maintenance: boolean; since: string }>(on, { environment })
    assert.equal(said.maintenance, true)
    // No waiting here: this is what the command promises.
    for (const one of nodes) assert.deepEqual(await publish(one, keys.publish), refused)
    const again = await node('three')
    assert.deepEqual(await publish(again, keys.publish), refused)
    for (const one of [...nodes, again]) {
      assert.equal((await listEvents(one.line.url, keys.read)).body.availableCount, 2)
      assert.equal((await one.stop()).code, 0)
    }
    const restarted = await node('one')
    assert.equal((restarted.line as { publishing?: string }).publishing, 'maintenance')
    assert.deepEqual(await publish(restarted, keys.publish), refused)
    const later = await runJson<{ since: string }>(['maintenance', 'status'], { environment })
    assert.equal(later.since, said.since)
    const doctor = await run(['doctor', '--json', '--port', '0', '--data', join(root, 'one')], {
      environment,
    })
    const found = (JSON.parse(doctor.stdout) as Found[]).find(({ check }) => check === 'maintenance')
    assert.equal(found?.status, 'warn')
    assert.match(found.remedy ?? '', /maintenance off/)
    assert.equal((await run(['maintenance', 'off'], { environment })).code, 0)
    const isTaken = async () => (await publish(restarted, keys.publish)).status === 201
    await until(isTaken, { what: 'a stored publication' })
    assert.equal((await restarted.stop()).code, 0)
  })

  it('works on a data folder that is served, and prints the command that ends it', async () => {
    const data = ['--data', join(root, 'folder')]
    const node = await serve(data)
    const keys = await keysOf({ data: join(root, 'folder') })
    assert.equal((await publish(node, keys.publish)).status, 201)
    const { code, stdout, stderr } = await run(['maintenance', 'on', '--retry-after', '45', ...data])
    assert.equal(code, 0, stderr)
    assert.deepEqual(await publish(node, keys.publish), refused)
    const readiness = await fetch(new URL('/readyz', node.line.metricsUrl))
    assert.deepEqual([readiness.status, await readiness.text()], [200, 'maintenance\n'])
    const metrics = await (await fetch(node.line.metricsUrl)).text()
    assert.match(metrics, /^property_events_maintenance 1$/m)
    const doctor = await run(['doctor', '--port', '0', ...data])
    assert.match(doctor.stdout, /^warn {2}maintenance +on since .* UTC: publications are refused$/m)
    assert.match(
      (await run(['maintenance', 'status', ...data])).stdout,
      /^Maintenance is on since .* Retry-After: 45\.$/m,
    )
    const off = /^To end it: (.*)$/m.exec(stdout)?.[1] ?? ''
    const ended = await runPrinted(off)
    assert.equal(ended.code, 0, ended.stderr)
    assert.match((await run(['maintenance', 'status', ...data])).stdout, /^Maintenance is off\.$/m)
    const isTaken = async () => (await publish(node, keys.publish)).status === 201
    await until(isTaken, { what: 'a stored publication' })
    assert.equal((await node.stop()).code, 0)
  })

  it('refuses a wait that no publisher could use, and a folder without a store', async () => {
    for (const seconds of ['0', '3601', 'soon']) {
      const { code, stderr } = await run(['maintenance', 'on', '--retry-after', seconds, '--data', root])
      assert.equal(code, 1)
      assert.match(stderr, /--retry-after is ".*", but must be a whole number from 1 to 3600\./)
    }
    const { code, stderr } = await run(['maintenance', 'on', '--data', join(root, 'nothing')])
    assert.equal(code, 1)
    assert.match(stderr, /^There is no store in /)
  })
})
