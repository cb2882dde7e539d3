/** A store that lacks what was shown, and one that was moved as a whole: what an operator sees and can do (D13). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { withClient } from '../../../server/test/postgres/support/standby.ts'
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

const root = temporaryFolder()
const started: Running[] = []

interface Tenant {
  readonly tenantId: string
  readonly readKey: string
  readonly publishKey: string
}

async function newTenant(name: string, place: StorePlace): Promise<Tenant> {
  const { tenantId, keys } = await makeTenant(place, name, {
    [`${name} reads`]: ['read'],
    [`${name} publishes`]: ['publish'],
  })
  const keyOf = (label: string) => keys[label]?.key ?? ''
  return { tenantId, readKey: keyOf(`${name} reads`), publishKey: keyOf(`${name} publishes`) }
}

async function publish({ line }: Running, { publishKey }: Tenant): Promise<number> {
  const answer = await fetch(`${line.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } }),
  })
  return answer.status
}

async function operations({ line }: Running, path: string): Promise<string> {
  return (await fetch(new URL(path, line.metricsUrl))).text()
}

describe('numbers that were shown and are not there', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('are in the log, in a metric and in what doctor proposes, and stop no other feed', async () => {
    const database = await databases.create()
    const environment = { PROPERTY_EVENTS_DATABASE: database, PROPERTY_EVENTS_KEY_PEPPER: 'of all the nodes' }
    const data = ['--data', join(root, 'node')]
    const node = await start(['serve', ...data], { environment })
    started.push(node)
    const hill = await newTenant('Hill & Co', placeOf(environment))
    const dale = await newTenant('Dale & Co', placeOf(environment))
    for (const tenant of [hill, hill, hill, dale]) assert.equal(await publish(node, tenant), 201)
    assert.match(await operations(node, '/metrics'), /^property_events_missing_numbers 0$/m)
    // As if an older state of this feed had been put back.
    await withClient(database, async (client) => {
      const where = `tenant = '${hill.tenantId}'`
      await client.query(`DELETE FROM event WHERE ${where} AND position > 1;
        UPDATE feed SET last_position = 1, last_sequence = 1, last_created = (SELECT created FROM event WHERE ${where})
        WHERE ${where} AND feed = 1`)
    })
    // Its head is looked at again when somebody asks for a window of time.
    await listEvents(node.line.url, hill.readKey, 'from=2020-01-01')
    assert.equal(await operations(node, '/readyz'), 'partly read only\n')
    assert.match(await operations(node, '/metrics'), /^property_events_missing_numbers 2$/m)
    assert.equal(await publish(node, hill), 503)
    assert.equal(await publish(node, dale), 201)

    const examine = () => run(['doctor', '--port', '0', ...data], { environment })
    const sick = await examine()
    assert.equal(sick.code, 1)
    assert.match(
      sick.stdout,
      new RegExp(
        `publishing to 1 feeds? waits: nodes have shown property of tenant ${hill.tenantId} up to 3, and the store has 1`,
      ),
    )
    const remedy = /Run `(.* epoch start .*?)`/.exec(sick.stdout)?.[1] ?? ''
    assert.match(remedy, new RegExp(`--continue-after 3 --tenant ${hill.tenantId} --feed property`))
    const begun = await runPrinted(remedy, { environment })
    assert.equal(begun.code, 0, begun.stderr)
    assert.match(
      begun.stdout,
      /next number of 1 of the feeds is greater than 3\.\n.*Hill & Co reads.* \(Hill & Co\)\.$/m,
    )
    assert.doesNotMatch(begun.stdout, /Dale/)
    assert.equal(await publish(node, hill), 201)
    assert.equal(await operations(node, '/readyz'), 'ok\n')
    assert.match(await operations(node, '/metrics'), /^property_events_missing_numbers 0$/m)
    const numbers = async ({ readKey }: Tenant) =>
      (await listEvents(node.line.url, readKey)).body.items.map((event) => event['sequenceNumber'])
    assert.deepEqual(
      [await numbers(hill), await numbers(dale)],
      [
        [1, 4],
        [1, 2],
      ],
    )
    assert.doesNotMatch((await examine()).stdout, /^fail {2}epoch/m)
    const { code, stderr } = await node.stop()
    assert.equal(code, 0)
    const lines = stderr
      .split('\n')
      .filter((line) => line.includes('"level":50') && line.includes('lostFeeds'))
    assert.equal(lines.length, 1, stderr)
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
    assert.deepEqual(line['feeds'], [{ tenantId: hill.tenantId, feed: 'property', shown: 3, held: 1 }])
  })

  it('are none when a whole store was moved: that is looked at, feed by feed, before it is accepted', async () => {
    const data = ['--data', join(root, 'moved from')]
    const node = await start(['serve', ...data])
    started.push(node)
    const hill = await newTenant('Hill & Co', { data: join(root, 'moved from') })
    assert.equal(await publish(node, hill), 201)
    const early = join(root, 'early.db')
    assert.equal((await run(['backup', early, ...data])).code, 0)
    assert.equal(await publish(node, hill), 201)
    const heads = join(root, 'heads.json')
    const noted = await run(['epoch', 'heads', '--json', ...data])
    assert.equal(noted.code, 0, noted.stderr)
    const shown = await run(['epoch', 'heads', ...data])
    assert.match(
      shown.stdout,
      /^tenant +feed +events +last number +last event \(UTC\) +epoch\nHill & Co +property +2 +2 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +[\w-]+\n/,
    )
    writeFileSync(heads, noted.stdout)
    mkdirSync(join(root, 'moved to'))
    const to = ['--data', join(root, 'moved to')]
    assert.equal((await run(['backup', join(root, 'moved to', 'property-events.db'), ...data])).code, 0)
    assert.equal((await node.stop()).code, 0)

    const short = await run(['epoch', 'accept', '--heads', heads, '--data', early])
    assert.equal(short.code, 1)
    assert.match(
      short.stderr,
      /The property feed of tenant .* ends with 1, and ended with 2\. Nothing was changed/,
    )
    for (const [text, sentence] of [
      ['', /not output of `epoch heads --json`/],
      [shown.stdout, /not output of `epoch heads --json`/],
      ['[]', /is not in the file/],
      [noted.stdout.replace(/"createdDate":"20/, '"createdDate":"19'), /not the same event as before/],
      [noted.stdout.replace(/"epoch":"./, '"epoch":"-'), /A new epoch has started/],
    ] as const) {
      writeFileSync(join(root, 'wrong.json'), text)
      const refused = await run(['epoch', 'accept', '--heads', join(root, 'wrong.json'), ...to])
      assert.equal(refused.code, 1, text)
      assert.match(refused.stderr, sentence)
    }
    const accepted = await run(['epoch', 'accept', '--heads', heads, ...to])
    assert.equal(accepted.code, 0, accepted.stderr)
    const again = await start(['serve', ...to], {
      environment: { PROPERTY_EVENTS_KEY_PEPPER: 'another one here' },
    })
    started.push(again)
    assert.match(await operations(again, '/readyz'), /wrong pepper/)
    assert.equal((await again.stop()).code, 0)
    const after = await runJson<{ sequenceNumber: number }[]>(['epoch', 'heads', ...to])
    assert.deepEqual(JSON.stringify(after), noted.stdout.trim(), 'nothing was changed')
  })

  it('cannot be reported of an invalid feed', async () => {
    const data = ['--data', join(root, 'moved from')]
    for (const [flags, sentence] of [
      [['--feed', 'property'], /name the tenant with --tenant/],
      [
        ['--tenant', 'Hill & Co', '--feed', 'viewings'],
        /--feed is "viewings", but must be property or contact/,
      ],
      [['--tenant', 'Nobody'], /There is no tenant "Nobody"/],
    ] as const) {
      const { code, stderr } = await run(['epoch', 'start', '--continue-after', '5', ...flags, ...data])
      assert.equal(code, 1)
      assert.match(stderr, sentence)
    }
  })
})
