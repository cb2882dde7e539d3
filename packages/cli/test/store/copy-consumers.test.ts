/** What consumers have seen and said goes with a copy of a store, and with a tenant that moves (D28). */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { feedNames } from '@property-events/protocol'
import { presencesPerStep, presenceText, refusalPauseMs } from '@property-events/server'
import type {
  ConsumerName,
  ConsumerRefusal,
  NumberRange,
  PresenceName,
  SetExpectation,
  StorageEngine,
} from '@property-events/server'
import { draft, feedKey, tenantA, tenantB, uuid } from '../../../server/test/store/support/drafts.ts'
import { erase, subject } from '../../../server/test/store/support/erasing.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { postgresStores } from '../../../server/test/postgres/postgres-stores.ts'
import { sqliteStores } from '../../../server/test/store/support/stores.ts'
import { copyStore, moveTenant } from '@property-events/server'

const engines = { sqlite: sqliteStores('thisThread'), postgres: postgresStores() } as const
after(async () => {
  for (const stores of Object.values(engines)) await stores.clean()
})

const minuteMs = 60_000
/** After the minutes that are kept begin. */
const resultsMs = 2_000 * minuteMs
const agencies = [tenantA, tenantB] as const
const keyOf = (tenantId: string) => `key ${tenantId}`

async function addTenants(store: StorageEngine): Promise<void> {
  for (const tenantId of agencies) {
    const tenant = { tenantId, name: tenantId, createdMs: 1, suspended: false }
    await store.tenants.createTenant(tenant, 'cli:test', { sameName: 'allowed' })
    const grants = [{ tenantId, scopes: ['property:read', 'contact:read'] as const }]
    const ends = { expiresMs: undefined, revokedMs: undefined, lastUsedMs: undefined, rate: undefined }
    const terms = {
      secretHash: new Uint8Array(32),
      pepperId: 'any',
      label: '',
      operator: false,
      createdMs: 1,
    }
    await store.keys.insertKey({ keyId: keyOf(tenantId), grants, ...terms, ...ends }, 'cli:test')
    const drafts = ['house', 'erased', 'garden'].map((name) => draft({ subject: `${tenantId} ${name}` }))
    await publish(store, drafts, { key: feedKey(tenantId) })
  }
}

/** Every table of what is kept of consumers has rows of every kind. */
async function addSeen(store: StorageEngine, tenantId: string): Promise<void> {
  const keyId = keyOf(tenantId)
  for (const feed of feedNames) {
    const key = { tenantId, feed }
    const answer = { askedMs: 9, status: 200, route: 'list' } as const
    const sent = (minute: number, ...ranges: readonly NumberRange[]) => ({
      minute,
      route: 'list' as const,
      ranges,
    })
    await store.consumers.add([
      {
        key,
        keyId,
        name: 'default',
        view: 'all',
        space: 'ordinals',
        epoch: 'e1',
        ...answer,
        quietMs: 8,
        minutes: [sent(1, [1, 2]), sent(2_000, [4, 5])],
      },
      {
        key,
        keyId,
        name: 'site',
        view: 'sales',
        space: 'numbers',
        epoch: '',
        ...answer,
        quietMs: undefined,
        minutes: [sent(2_000, [1, 1], [3, 3])],
      },
      {
        key,
        keyId,
        name: 'site',
        view: 'single',
        space: 'numbers',
        epoch: '',
        ...answer,
        quietMs: undefined,
        minutes: [sent(2_000, [2, 2])],
      },
    ])
    // The minute goes; that the numbers were sent stays.
    await store.consumers.tidy({ consumers: [], mostRows: 2_000, beforeMs: 1_000 * minuteMs })
    await store.consumers.acknowledge([
      { key, keyId, name: 'site', sequenceNumber: 3, epoch: 'e1', acknowledgedMs: 7 },
    ])
  }
  const said = {
    tenantId,
    keyId,
    name: 'site',
    code: undefined,
    message: 'as it says',
    url: undefined,
    resultMs: resultsMs + 5,
  }
  const results = ['house', 'garden'].map((name) => ({
    ...said,
    subjectId: uuid(`${tenantId} ${name}`),
    sequenceNumber: 1,
    outcome: 'live' as const,
  }))
  await store.consumers.putResults(
    results.map((one) => ({ ...one, outcome: 'held' as const, resultMs: resultsMs + 3 })),
  )
  await store.consumers.putResults(results)
  await store.consumers.putResults(results.map((one) => ({ ...one, resultMs: resultsMs + 8 })))
  // Of this one the last report is kept, and its change is older than the log.
  const old = { ...said, subjectId: uuid(`${tenantId} erased`), sequenceNumber: 1, outcome: 'live' as const }
  await store.consumers.putResults([{ ...old, resultMs: 10 }])
  await store.consumers.tidy({ consumers: [], mostRows: 2_000, beforeMs: 1_000 * minuteMs })
  await store.consumers.addRefusals([
    refusal(tenantId),
    { ...refusal(tenantId), tenantId: undefined, code: 'key_network' },
  ])
}

function refusal(tenantId: string, changes: Partial<ConsumerRefusal> = {}): ConsumerRefusal {
  const times = { sinceMs: 10, lastMs: 20, count: 3 }
  return {
    keyId: keyOf(tenantId),
    name: 'site',
    tenantId,
    code: 'epoch_changed',
    status: 409,
    ...times,
    ...changes,
  }
}

async function seenOf({ consumers }: StorageEngine, tenantId: string) {
  const feeds = []
  for (const feed of feedNames) {
    const key = { tenantId, feed }
    const named = (name: string): ConsumerName => ({ key, keyId: keyOf(tenantId), name })
    feeds.push({
      readings: await consumers.readings(key),
      sent: [
        await consumers.sentAfter(named('default'), undefined, 99),
        await consumers.sentAfter(named('site'), undefined, 99),
      ],
      acknowledgements: await consumers.acknowledgements(key),
    })
  }
  const results = await consumers.resultsAfter(tenantId, undefined, 100)
  const log = await consumers.resultChangesAfter(tenantId, undefined, 100)
  const refusals = await consumers.refusals([keyOf(tenantId)])
  return { feeds, results, log, refusals: refusals.toSorted((a, b) => (a.code < b.code ? -1 : 1)) }
}

function copy(from: StorageEngine, to: StorageEngine) {
  const signal = new AbortController().signal
  return copyStore({ from, to, actor: 'cli:test', onProgress: () => undefined, signal })
}

const pairs = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const

describe('what consumers have seen and said', () => {
  for (const [one, other] of pairs) {
    it(`is copied from ${one} to ${other}, once however often the copy is made, without what was erased (D28)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      await addTenants(source)
      for (const tenantId of agencies) await addSeen(source, tenantId)
      await copy(source, target)
      for (const tenantId of agencies) {
        assert.equal((await seenOf(target, tenantId)).results.length, 3)
        assert.deepEqual(await seenOf(target, tenantId), await seenOf(source, tenantId))
      }
      // The same again, and what came since.
      await source.consumers.addRefusals([
        refusal(tenantA, { lastMs: 30, count: 2 }),
        refusal(tenantB, { sinceMs: refusalPauseMs + 100, lastMs: refusalPauseMs + 200, count: 1 }),
      ])
      await copy(source, target)
      await copy(source, target)
      for (const tenantId of agencies)
        assert.deepEqual(await seenOf(target, tenantId), await seenOf(source, tenantId))
      assert.deepEqual(
        (await seenOf(target, tenantA)).refusals.map(({ code, count }) => [code, count]),
        [
          ['epoch_changed', 5],
          ['key_network', 3],
        ],
      )
    })

    it(`moves with a tenant from ${one} to ${other}, and stays with its keys (D28)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      await addTenants(source)
      for (const tenantId of agencies) await addSeen(source, tenantId)
      const before = await seenOf(source, tenantA)
      await move(source, target, tenantA, false)
      assert.deepEqual(await seenOf(target, tenantA), before)
      assert.deepEqual(await target.consumers.readings(feedKey(tenantB)), [])
      await move(source, target, tenantB, true)
      assert.deepEqual(await target.consumers.readings(feedKey(tenantB)), [])
      assert.deepEqual((await seenOf(target, tenantB)).results, [])
    })
  }

  for (const [one, other] of pairs) {
    it(`disappears from a copy on ${other} with what an erasure takes, when the copy is made again (D17)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      await addTenants(source)
      for (const tenantId of agencies) await addSeen(source, tenantId)
      await copy(source, target)
      await erase(source, subject(`${tenantA} house`), { key: feedKey(tenantA) })
      assert.deepEqual(await source.consumers.results(tenantA, uuid(`${tenantA} house`)), [])
      await copy(source, target)
      for (const tenantId of agencies)
        assert.deepEqual(await seenOf(target, tenantId), await seenOf(source, tenantId))
      assert.equal((await seenOf(target, tenantA)).results.length, 2)
    })
  }
})

const publisher = (tenantId: string, feed: 'property' | 'contact' = 'property'): PresenceName => ({
  kind: 'publisher',
  tenantId,
  feed,
})
const consumer = (keyId: string, name = 'default'): PresenceName => ({ kind: 'consumer', keyId, name })

async function expect(
  { silence }: StorageEngine,
  name: PresenceName,
  expectation: SetExpectation | undefined,
): Promise<void> {
  assert.equal(await silence.expect(name, expectation, 'cli:test'), 'done')
}

/** What was set in the store, by the texts of the names. */
async function setIn({ silence }: StorageEngine): Promise<Readonly<Record<string, SetExpectation>>> {
  const all = await silence.presences(undefined, presencesPerStep)
  return Object.fromEntries(
    all.flatMap(({ name, expectation }) =>
      expectation === undefined ? [] : [[presenceText(name), expectation]],
    ),
  )
}

function named(...set: readonly (readonly [PresenceName, SetExpectation])[]) {
  return Object.fromEntries(set.map(([name, expectation]) => [presenceText(name), expectation]))
}

const hourMs = 3_600_000

/** Publishers and consumers of both agencies, and one that was set and is learned again. */
async function addExpected(store: StorageEngine): Promise<void> {
  for (const tenantId of agencies) {
    await expect(store, publisher(tenantId), hourMs)
    await expect(store, publisher(tenantId, 'contact'), 'never')
    await expect(store, consumer(keyOf(tenantId)), 2 * hourMs)
    await expect(store, consumer(keyOf(tenantId), 'site'), 'never')
    await expect(store, consumer(keyOf(tenantId), 'old'), hourMs)
    await expect(store, consumer(keyOf(tenantId), 'old'), undefined)
  }
}

function expectedOf(tenantId: string): readonly (readonly [PresenceName, SetExpectation])[] {
  return [
    [publisher(tenantId), hourMs],
    [publisher(tenantId, 'contact'), 'never'],
    [consumer(keyOf(tenantId)), 2 * hourMs],
    [consumer(keyOf(tenantId), 'site'), 'never'],
  ]
}

describe('intervals that were set', () => {
  for (const [one, other] of pairs) {
    it(`go with a copy from ${one} to ${other}, and are as in the source when it is made again (PROTOCOL §14.7)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      await addTenants(source)
      await addExpected(source)
      await copy(source, target)
      const all = agencies.flatMap(expectedOf)
      assert.deepEqual(await setIn(target), named(...all))
      await expect(source, publisher(tenantA), undefined)
      await expect(source, consumer(keyOf(tenantB)), 3 * hourMs)
      await copy(source, target)
      assert.deepEqual(await setIn(target), await setIn(source))
      assert.deepEqual(await setIn(target), {
        ...named(...all.slice(1)),
        ...named([consumer(keyOf(tenantB)), 3 * hourMs]),
      })
    })

    it(`move with a tenant from ${one} to ${other}, those of consumers with their keys (PROTOCOL §14.7)`, async () => {
      await using source = await engines[one].create()
      await using target = await engines[other].create()
      await addTenants(source)
      await addExpected(source)
      await move(source, target, tenantA, false)
      assert.deepEqual(await setIn(target), named(...expectedOf(tenantA)))
      await move(source, target, tenantB, true)
      assert.deepEqual(await setIn(target), named(...expectedOf(tenantA), ...expectedOf(tenantB).slice(0, 2)))
    })
  }

  it('of a key of two tenants move with the tenant that the consumer reads, and replace nothing that the target has set (PROTOCOL §14.7)', async () => {
    await using source = await engines.sqlite.create()
    await using target = await engines.sqlite.create()
    await addTenants(source)
    const keyId = keyOf(tenantA)
    const grant = { tenantId: tenantB, scopes: ['property:read'] } as const
    await source.keys.grant(keyId, grant, 'cli:test')
    await addSeen(source, tenantA)
    // "default" and "site" have read tenant A; "other" has not.
    const inSource = [consumer(keyId), consumer(keyId, 'site'), consumer(keyId, 'other')]
    for (const name of inSource) await expect(source, name, hourMs)
    await move(source, target, tenantA, false)
    assert.deepEqual(await setIn(target), named([consumer(keyId), hourMs], [consumer(keyId, 'site'), hourMs]))
    await expect(target, consumer(keyId), 'never')
    await move(source, target, tenantB, false)
    assert.deepEqual(
      await setIn(target),
      named([consumer(keyId), 'never'], [consumer(keyId, 'site'), hourMs]),
    )
  })
})

async function move(
  from: StorageEngine,
  to: StorageEngine,
  tenantId: string,
  withoutKeys: boolean,
): Promise<void> {
  const tenant = (await from.tenants.tenants()).find((one) => one.tenantId === tenantId)
  assert(tenant !== undefined)
  const signal = new AbortController().signal
  const given = { actor: 'cli:test', peppers: undefined, onProgress: () => undefined, signal } as const
  await moveTenant({ from, to, tenant, withoutKeys, ...given })
}
