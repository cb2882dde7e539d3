/**
 * A text in every field, published, read by every route, followed by copies, and erased: nothing of the service and no copy holds it
 * afterwards, and everything else is what it was (D17).
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as childProcess from 'node:child_process'
import { promisify } from 'node:util'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  addressesOf,
  canary,
  eraseAll,
  publishCanary,
  readAll,
  showing,
  tagsOf,
  textOf,
} from '../../../server/test/support/canary.ts'
import type { Erased } from '../../../server/test/support/canary.ts'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestTenant } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { removeFolder, run, start, temporaryFolder } from '../support/program.ts'

const inLongRun = {
  skip: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? false : 'only in npm run test:long',
} as const
const execFile = promisify(childProcess.execFile)
const exampleTable = fileURLToPath(new URL('../../../../examples/property-table-sqlite.ts', import.meta.url))

/** A service of one or more nodes, as its clients and its operator see it. */
interface Place {
  readonly nodes: readonly { readonly url: string; readonly metricsUrl: string | undefined }[]
  readonly tenant: TestTenant
  /** Everything the operator is told, when the service has stopped. */
  stop(): Promise<string>
}

interface Copies {
  readonly folder: string
  /** Brings all of them up to date. */
  update(): Promise<void>
}

function copiesIn(folder: string, { nodes, tenant }: Place): Copies {
  const environment = { PROPERTY_EVENTS_URL: nodes[0]?.url ?? '', PROPERTY_EVENTS_KEY: tenant.readKey }
  const targets = ['contacts', 'contacts.ndjson', 'properties', 'properties.ndjson']
  return {
    folder,
    async update() {
      for (const target of targets) {
        const feed = target.startsWith('contacts') ? 'contact' : 'property'
        const synced = await run(['sync', join(folder, target), '--feed', feed], { environment })
        assert.equal(synced.code, 0, synced.stderr)
      }
      await execFile(process.execPath, [exampleTable, join(folder, 'website.db')], {
        env: {
          PATH: process.env['PATH'],
          PROPERTY_EVENTS_URL: environment.PROPERTY_EVENTS_URL,
          PROPERTY_EVENTS_KEY: tenant.readKey,
        },
      })
    },
  }
}

/** Files below a folder that hold the canary. */
function filesHolding(folder: string, files: RegExp = /./): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => files.test(name) && statSync(join(folder, name)).isFile())
    .filter((name) => readFileSync(join(folder, name)).includes(canary))
    .toSorted()
}

/** What a list says of each event but its payload, and of its pages; the last event of each feed, which closes the subject, left out. */
function frameOf(text: string): unknown {
  const { items, ...counts } = JSON.parse(text) as { items: readonly Record<string, unknown>[] }
  return { items: items.map((item) => ({ ...item, payload: '' })), counts }
}

async function operatorsView(place: Place): Promise<string> {
  const texts = place.nodes.flatMap(({ metricsUrl }) =>
    metricsUrl === undefined ? [] : [metricsUrl, metricsUrl.replace(/metrics$/, 'slowest')],
  )
  return (await Promise.all(texts.map(async (url) => (await fetch(url)).text()))).join('\n')
}

/** `data`: folders of the nodes, whose files of ready-made pages have nothing of it as soon as it is unreachable. */
async function leavesNothing(folder: string, place: Place, data: readonly string[] = []): Promise<void> {
  const { tenant } = place
  const targets = place.nodes.map(({ url }) => ({ port: Number(new URL(url).port), tenant }))
  const [first] = targets
  assert.ok(first !== undefined)
  const erased = await publishCanary(first)
  const addresses = addressesOf(erased)
  const copies = copiesIn(folder, place)
  await copies.update()
  assert.equal(filesHolding(folder).filter((name) => !name.includes('.db')).length, 4)
  assert.ok(filesHolding(folder).includes('website.db'))
  const before = new Map<(typeof targets)[number], Awaited<ReturnType<typeof readAll>>>()
  for (const target of targets) {
    // Twice, so that pages are ready-made and known; then once more for their tags.
    for (let round = 0; round < 2; round += 1) await readAll(target, addresses)
    const answers = await readAll(target, addresses)
    const shown = new Set(showing(answers))
    for (const address of addresses) {
      if (!address.endsWith('/reduced')) assert.ok(shown.has(`${address} gzip`), `${address} shows it before`)
    }
    before.set(target, answers)
  }

  const onDisk = (): readonly string[] => data.flatMap((each) => filesHolding(each, /sealed-pages/))
  const areOnDisk = async (): Promise<boolean> => {
    if (onDisk().length === data.length) return true
    for (const target of targets) await readAll(target, addresses)
    return false
  }
  await until(areOnDisk, { what: 'the pages to be on disk', timeoutMs: 60_000 })
  const receipts = await eraseAll(first, erased)
  // Before any read, which would show a thread that its pages are of another state.
  assert.deepEqual(onDisk(), [])
  for (const [index, { feed }] of erased.entries()) {
    const names = receipts[index]?.['recipients']
    assert.equal(Array.isArray(names) && names.length, feed === 'contact' ? 1 : false)
  }
  for (const [target, answers] of before) {
    assert.deepEqual(showing(await readAll(target, addresses, tagsOf(answers))), [])
    const now = await readAll(target, addresses)
    assert.deepEqual(showing(now), [], 'and again')
    assertFramesKept(answers, now, erased)
  }
  assert.ok(!(await operatorsView(place)).includes(canary))
  await copies.update()
  assert.deepEqual(filesHolding(folder), [])
}

/** Whole pages of before are what they were but for payloads; the last page and the counts have one event more. */
function assertFramesKept(
  before: Awaited<ReturnType<typeof readAll>>,
  now: Awaited<ReturnType<typeof readAll>>,
  erased: readonly Erased[],
): void {
  let compared = 0
  for (const [name, answer] of before) {
    if (!/getevents/.test(name)) continue
    const after = now.get(name)
    assert.ok(after !== undefined)
    const [one, other] = [frameOf(textOf(answer)), frameOf(textOf(after))] as [Frame, Frame]
    const isFull = one.items.length === one.counts.pageSize
    assert.deepEqual(isFull ? other.items : other.items.slice(0, one.items.length), one.items, name)
    assert.equal(other.counts.availableCount, one.counts.availableCount + 1, name)
    compared += 1
  }
  assert.ok(compared >= 5 * erased.length)
}

interface Frame {
  readonly items: readonly unknown[]
  readonly counts: { readonly availableCount: number; readonly pageSize: number }
}

describe('what was erased', () => {
  const root = temporaryFolder()
  let databases: TestDatabases
  const left = new Set<() => void | Promise<void>>()
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const end of left) await end()
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  /** Programs of their own: the operator sees what they write, and asks as operators do. */
  async function startPrograms(
    nodes: readonly (readonly string[])[],
    data: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<Place> {
    const running = await Promise.all(
      nodes.map((args) =>
        start(['serve', ...args, '--metrics-port', '0', '--rate-limit', 'off'], { environment }),
      ),
    )
    const isDatabase = 'PROPERTY_EVENTS_DATABASE' in environment
    const place = isDatabase ? placeOf(environment) : { data }
    const where = isDatabase ? [] : ['--data', data]
    const { tenantId, keys } = await makeTenant(place, 'Hill & Co', {
      read: ['read'],
      publish: ['publish'],
      erase: ['erase'],
    })
    const tenant = {
      tenantId,
      readKey: keys.read.key,
      publishKey: keys.publish.key,
      eraseKey: keys.erase.key,
    }
    for (const { child } of running) left.add(() => void child.kill('SIGKILL'))
    return {
      nodes: running.map(({ line }) => line),
      tenant,
      async stop() {
        const audit = await run(['audit', 'export', ...where], { environment })
        assert.match(audit.stdout, /erasure\.begun/, audit.stderr)
        const listed = await run(['erasures', 'list', '--url', running[0]?.line.url ?? ''], {
          environment: { ...environment, PROPERTY_EVENTS_KEY: tenant.eraseKey },
        })
        assert.match(listed.stdout, /unreachable/, listed.stderr)
        const ended = await Promise.all(running.map((node) => node.stop()))
        const doctor = await run(['doctor', '--deep', '--data', data], { environment })
        const told = [audit, listed, doctor, ...ended]
        return told.map(({ stdout, stderr }) => stdout + stderr).join('\n')
      },
    }
  }

  it('is in no answer, in no page on disk, in no copy and in nothing that an operator sees (D17)', async () => {
    const data = join(root, 'store')
    const place = await startPrograms([['--data', data]], data, {})
    await leavesNothing(join(root, 'copies of sqlite'), place, [data])
    assert.ok(!(await place.stop()).includes(canary))
  })

  it('is in no answer of two nodes of a database, in no copy and in nothing that an operator sees (D17)', async () => {
    const data = join(root, 'first')
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const nodes = [
      ['--data', data],
      ['--data', join(root, 'second')],
    ]
    const place = await startPrograms(nodes, data, environment)
    await leavesNothing(join(root, 'copies of postgres'), place, [data, join(root, 'second')])
    assert.ok(!(await place.stop()).includes(canary))
  })

  it('is in no answer and no copy of a store in memory (D17)', inLongRun, async () => {
    const service = await startTestService()
    const { url, metricsUrl } = service.service
    left.add(() => service.stop())
    const place: Place = {
      nodes: [{ url, metricsUrl }],
      tenant: service.tenant,
      async stop() {
        await service.service.close()
        return service.logLines.join('')
      },
    }
    await leavesNothing(join(root, 'copies of memory'), place)
    assert.ok(!(await place.stop()).includes(canary))
  })
})
