/** `sync --keys --follow` for a portal: each tenant with its own lag, whatever becomes of another one. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@property-events/client'
import { startTestService } from '../../server/test/support/test-service.ts'
import { scopes } from '@property-events/protocol'
import type { TestService } from '../../server/test/support/test-service.ts'
import { until } from '../../server/test/support/until.ts'
import { removeFolder, spawnProgram, temporaryFolder } from '../../cli/test/support/program.ts'
import { openPlace, tableEngines } from './support/places.ts'
import type { TablePlace } from './support/places.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const tenantCount = 200
const homesEach = 25
const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`
const nameOf = (index: number) => `tenant-${String(index).padStart(3, '0')}`

interface Tenant {
  readonly name: string
  readonly tenantId: string
  readonly readKey: string
  readonly readKeyId: string
  readonly publish: (...indexes: readonly number[]) => Promise<void>
}

/** A tenant without news is asked every 30 s, and that is what most of the time goes into. */
const skip = isLong ? false : 'some two minutes: tried in test:long'

describe(`sync --keys with ${tenantCount} tenants`, { skip }, () => {
  let service: TestService
  const folder = temporaryFolder()
  before(async () => {
    service = await startTestService()
  })
  after(async () => {
    await service.stop()
    removeFolder(folder)
  })
  for (const engine of tableEngines) {
    it(`keeps each in step in ${engine}, though keys end and others fail, and goes on after kill -9`, async (context) => {
      const place = await openPlace(engine)
      context.after(() => place.close())
      const tenants: Tenant[] = []
      for (let index = 0; index < tenantCount; index += 1) tenants.push(await makeTenant(service, index))
      for (const { publish } of tenants)
        await publish(...Array.from({ length: homesEach }, (_, index) => index))
      const keys = join(folder, `${engine}-keys.txt`)
      const lines = tenants.map(({ name, readKey }) => `${name} ${readKey}\n`)
      writeFileSync(keys, `${lines.join('')}never-one pev_never_was_a_key\n`, { mode: 0o600 })
      const first = follow(context, place, keys)
      await until(async () => (await homesOf(place, tenants)).every((count) => count === homesEach), {
        what: 'the first copies',
        timeoutMs: 120_000,
      })
      await until(() => /^never-one: .*(not a whole key|401|unauthorized)/m.test(first.said()), {
        what: 'the failure',
      })

      // One key ends. Its listings stay, it is named once, and nobody waits for it.
      const [ended, ...others] = tenants
      assert.ok(ended !== undefined)
      const { text: key } = await readingKey(service, ended.tenantId)
      await service.storage.keys.revokeKey(ended.readKeyId, Date.now(), 'cli:test')
      for (const { publish } of tenants) await publish(homesEach)
      await until(async () => (await homesOf(place, others)).every((count) => count === homesEach + 1), {
        what: 'the changes of all others',
        timeoutMs: 120_000,
      })
      await until(() => new RegExp(`^${ended.name}: .*revoked`, 'm').test(first.said()), {
        what: 'the end of the key',
      })
      assert.deepEqual(await homesOf(place, [ended]), [homesEach])
      context.diagnostic(`${engine}: ${first.memory()} after the first copies of ${tenantCount} tenants`)

      // Killed, and started again with a new key for it.
      await first.stop('SIGKILL')
      writeFileSync(keys, lines.with(0, `${ended.name} ${key}\n`).join(''), { mode: 0o600 })
      for (const { publish } of others) await publish(homesEach + 1)
      const second = follow(context, place, keys, '--json')
      const wanted = tenants.map(({ name }) => (name === ended.name ? homesEach + 1 : homesEach + 2))
      await until(async () => isDeepStrictEqual(await homesOf(place, tenants), wanted), {
        what: 'everything after the restart',
        timeoutMs: 120_000,
      })
      await until(async () => (await lagsOf(place)).every((lagMs) => lagMs < 120_000), {
        what: 'a lag for each',
      })
      const { code, stdout, stderr } = await second.stop('SIGTERM')
      assert.equal(code, 0, stderr)
      const report = JSON.parse(stdout) as {
        failed: number
        tenants: readonly { events: number; lagMs: number | null }[]
      }
      assert.equal(report.failed, 0)
      assert.equal(report.tenants.length, tenantCount)
      assert.ok(report.tenants.every(({ lagMs }) => lagMs !== null))
      // The restart has read what was new, and not all of it again.
      assert.ok(
        report.tenants.every(({ events }) => events === 1),
        JSON.stringify(report.tenants[0]),
      )
    })
  }

  function follow(context: TestContext, place: TablePlace, keys: string, ...flags: readonly string[]) {
    const args = ['sync', place.target, '--keys', keys, '--follow', ...flags]
    const child = spawnProgram(args, { environment: { PROPERTY_EVENTS_URL: service.url } })
    context.after(() => void child.kill('SIGKILL'))
    let stdout = ''
    let stderr = ''
    child.stdout?.on('data', (text) => (stdout += String(text)))
    child.stderr?.on('data', (text) => (stderr += String(text)))
    const end = new Promise<number | null>((resolve) => child.once('close', resolve))
    return {
      said: () => stderr,
      /** Linux alone tells it. */
      memory: () =>
        process.platform === 'linux'
          ? (/VmHWM:.*/
              .exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[0]
              .replaceAll(/\s+/g, ' ') ?? '')
          : 'not measured',
      async stop(signal: NodeJS.Signals) {
        child.kill(signal)
        return { code: await end, stdout, stderr }
      },
    }
  }
})

const readingKey = (service: TestService, tenantId: string) =>
  service.issue({ grants: [{ tenantId, scopes: scopes.filter((scope) => scope.endsWith('read')) }] })

async function makeTenant(service: TestService, index: number): Promise<Tenant> {
  const name = nameOf(index)
  const tenantId = randomUUID()
  await service.storage.tenants.createTenant(
    { tenantId, name, createdMs: Date.now(), suspended: false },
    'cli:test',
  )
  const { text: readKey, keyId: readKeyId } = await readingKey(service, tenantId)
  const publishing = scopes.filter((scope) => scope.endsWith('publish'))
  const { text: publishKey } = await service.issue({ grants: [{ tenantId, scopes: publishing }] })
  const publisher = createClient({ baseUrl: service.url, key: publishKey })
  return {
    name,
    tenantId,
    readKey,
    readKeyId,
    async publish(...indexes) {
      await publisher.publish(
        indexes.map((home) => ({
          payload: { agent_ref: refOf(home), published: true, status: 1, branch_id: name },
        })),
      )
    },
  }
}

/** Listings of each tenant, all of which name it in their payload: none is another one's. */
async function homesOf(place: TablePlace, tenants: readonly Tenant[]): Promise<readonly number[]> {
  const rows = await place
    .rows('SELECT tenant, count(*) AS n FROM listings WHERE branch_id = tenant GROUP BY tenant')
    // Before the first run has made the tables.
    .catch(() => [])
  const counts = new Map(rows.map(({ tenant, n }) => [tenant, Number(n)]))
  return tenants.map(({ name }) => counts.get(name) ?? 0)
}

async function lagsOf(place: TablePlace): Promise<readonly number[]> {
  const rows = await place.rows('SELECT caught_up_at FROM listing_sync')
  return rows.map(({ caught_up_at: at }) => (at === null ? Infinity : Date.now() - Date.parse(at as string)))
}
