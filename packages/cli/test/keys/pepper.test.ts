/** The pepper that is not the right one, and the one that is replaced while nodes serve (D11). */
import assert from 'node:assert/strict'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { findPeppers, openStorage } from '@property-events/server'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { newEndpoint, secretNamed } from '../../../server/test/store/support/webhooks.ts'
import { newSecret, sealSecret } from '../../../server/src/webhooks/secret.ts'
import { until } from '../../../server/test/support/until.ts'
import { listEvents, removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const root = temporaryFolder()
const started: Running[] = []
const oldPepper = 'the pepper of the years before'
const newPepper = 'the pepper of the years to come'

async function serve(
  data: string,
  environment: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Promise<Running> {
  const running = await start(['serve', '--data', join(root, data), ...more], { environment })
  started.push(running)
  return running
}

async function readiness({ line }: Running): Promise<readonly [number, string]> {
  const answer = await fetch(new URL('/readyz', line.metricsUrl))
  return [answer.status, await answer.text()]
}

async function makeKey(place: readonly string[], environment: Readonly<Record<string, string>>) {
  const args = ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', ...place]
  return (await runJson<{ key: string }>(args, { environment })).key
}

/** Of the folder's only key, with a secret that is sealed with the folder's pepper. */
async function makeEndpoint(folder: string): Promise<void> {
  await using store = await openStorage({ kind: 'sqlite', folder, create: false })
  const [key] = await store.keys.keys()
  const [pepper] = findPeppers({ folder, given: undefined }) ?? []
  assert.ok(key && pepper)
  const endpoint = newEndpoint({ keyId: key.keyId, tenantId: key.grants[0]?.tenantId ?? '' })
  const sealed = sealSecret(pepper, endpoint.endpointId, newSecret())
  const secret = secretNamed('', { sealed, pepperId: pepper.pepperId })
  assert.equal(await store.webhooks.create({ ...endpoint, secret }, 'cli:test'), 'created')
}

describe('the pepper of a store', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('that is missing, or fits no key, makes a service not ready, and no new one is made', async () => {
    const data = ['--data', join(root, 'one')]
    const first = await serve('one', {})
    await runJson(['tenants', 'create', 'Hill & Co', ...data])
    const key = await makeKey(data, {})
    assert.deepEqual(await readiness(first), [200, 'ok\n'])
    assert.equal((await first.stop()).code, 0)
    const file = join(root, 'one', 'pepper')
    renameSync(file, `${file}.aside`)
    for (const environment of [{}, { PROPERTY_EVENTS_KEY_PEPPER: 'not the one of this store' }]) {
      const without = await serve('one', environment)
      assert.deepEqual(await readiness(without), [503, 'wrong pepper\n'])
      assert.equal((await listEvents(without.line.url, key)).status, 401)
      const { code, stderr } = await without.stop()
      assert.equal(code, 0, stderr)
      assert.match(stderr, /"level":50.*no key works, and this service is not ready/)
      assert(!stderr.includes('not the one of this store'))
      assert(!existsSync(file))
    }
    renameSync(`${file}.aside`, file)
    const again = await serve('one', {})
    assert.deepEqual(await readiness(again), [200, 'ok\n'])
    assert.equal((await listEvents(again.line.url, key)).status, 200)
    assert.equal((await again.stop()).code, 0)
  })

  it('of a second node that has another one is found out, also when keys come later', async () => {
    const database = { PROPERTY_EVENTS_DATABASE: await databases.create() }
    const right = { ...database, PROPERTY_EVENTS_KEY_PEPPER: oldPepper }
    const one = await serve('right', right)
    const two = await serve('wrong', database)
    assert.deepEqual(await readiness(two), [200, 'ok\n'], 'no key tells yet')
    await runJson(['tenants', 'create', 'Hill & Co'], { environment: database })
    await makeKey([], right)
    assert.deepEqual(
      [await readiness(one), await readiness(two)],
      [
        [200, 'ok\n'],
        [503, 'wrong pepper\n'],
      ],
    )
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)
  })

  it('is replaced while two nodes serve, every key working throughout, and not before both know the new one', async () => {
    const database = { PROPERTY_EVENTS_DATABASE: await databases.create() }
    const before = { ...database, PROPERTY_EVENTS_KEY_PEPPER: oldPepper }
    const during = {
      ...database,
      PROPERTY_EVENTS_KEY_PEPPER: newPepper,
      PROPERTY_EVENTS_OLD_KEY_PEPPER: oldPepper,
    }
    const afterwards = { ...database, PROPERTY_EVENTS_KEY_PEPPER: newPepper }
    let one = await serve('a', before)
    let two = await serve('b', before)
    await runJson(['tenants', 'create', 'Hill & Co'], { environment: before })
    const used = await makeKey([], before)
    const unused = await makeKey([], before)
    const works = async (key: string) => {
      const statuses = []
      for (const { line } of [one, two]) statuses.push((await listEvents(line.url, key)).status)
      return statuses
    }
    assert.equal((await one.stop()).code, 0)
    one = await serve('a', during)
    const meanwhile = await makeKey([], during)
    for (const key of [used, meanwhile]) assert.deepEqual(await works(key), [200, 200])

    const early = await run(['pepper', 'finish'], { environment: during })
    assert.equal(early.code, 1)
    assert.match(early.stderr, /Nothing was changed.*is not known to .*, process \d+ \(\d+ s ago\)/)
    assert.equal((await two.stop()).code, 0)
    two = await serve('b', during)
    const finished = await runJson<{ keysLeft: number }>(['pepper', 'finish'], { environment: during })
    assert.equal(finished.keysLeft, 3)
    for (const key of [used, meanwhile]) assert.deepEqual(await works(key), [200, 200])
    const fresh = await makeKey([], during)
    type Status = { peppers: { called: string; keys: number; isCurrent: boolean }[]; nodes: unknown[] }
    const counts = async () => {
      const { peppers, nodes } = await runJson<Status>(['pepper', 'status'], { environment: during })
      assert.equal(nodes.length, 2)
      return Object.fromEntries(peppers.map(({ called, keys }) => [called, keys]))
    }
    const countOfOld = async (used: string): Promise<number | undefined> => {
      assert.deepEqual(await works(used), [200, 200])
      return (await counts())['the old one']
    }
    await until(async () => (await countOfOld(used)) === 1, { what: 'the used key under the new pepper' })
    assert.deepEqual(await counts(), { 'the new one': 3, 'the old one': 1 })
    assert.deepEqual(await works(unused), [200, 200])
    await until(async () => (await countOfOld(unused)) === undefined, {
      what: 'all keys under the new pepper',
    })

    // A node with the old one alone would refuse keys that work elsewhere.
    const late = await serve('c', before)
    assert.deepEqual(await readiness(late), [503, 'wrong pepper\n'])
    assert.match((await late.stop()).stderr, /not the one that `pepper finish` has recorded/)
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)
    one = await serve('a', afterwards)
    two = await serve('b', afterwards)
    for (const key of [used, unused, meanwhile, fresh]) assert.deepEqual(await works(key), [200, 200])
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)
  })

  it('in a file is replaced with the file before it put aside', async () => {
    const data = ['--data', join(root, 'file')]
    const [file, old] = [join(root, 'file', 'pepper'), join(root, 'file', 'pepper.old')]
    await (await serve('file', {})).stop()
    await runJson(['tenants', 'create', 'Hill & Co', ...data])
    const key = await makeKey(data, {})
    await makeEndpoint(join(root, 'file'))
    renameSync(file, old)
    writeFileSync(file, `${'0f'.repeat(32)}\n`, { mode: 0o600 })
    const counts = async () => {
      type Status = { peppers: { called: string; keys: number; webhookSecrets: number }[] }
      const { peppers } = await runJson<Status>(['pepper', 'status', ...data])
      return peppers.map(({ called, keys, webhookSecrets }) => [called, keys, webhookSecrets])
    }
    const running = await serve('file', {})
    assert.deepEqual(await counts(), [['the old one', 1, 1]])
    assert.equal((await runJson<{ keysLeft: number }>(['pepper', 'finish', ...data])).keysLeft, 1)
    assert.deepEqual(await counts(), [
      ['the old one', 1, 0],
      ['the new one', 0, 1],
    ])
    const shown = async () => (await run(['pepper', 'status', ...data])).stdout
    const isReplaced = async (): Promise<boolean> => {
      assert.equal((await listEvents(running.line.url, key)).status, 200)
      return !/the old one/.test(await shown())
    }
    await until(isReplaced, { what: 'the end of the old pepper' })
    assert.equal((await running.stop()).code, 0)
    renameSync(old, `${old}.aside`)
    const again = await serve('file', {})
    assert.equal((await listEvents(again.line.url, key)).status, 200)
    assert.equal((await again.stop()).code, 0)
  })
})
