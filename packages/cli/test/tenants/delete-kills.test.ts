/** Deleting a tenant goes on after `kill -9` at any moment: export, rows, audit and certificate always say the same (PROTOCOL §12.9). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { feedNames } from '@property-events/protocol'
import type { FeedEvent, FeedName } from '@property-events/protocol'
import { openStorage, storeFileOf } from '@property-events/server'
import type { Deletion, FeedKey, OwnedCounts, StorageEngine } from '@property-events/server'
import {
  eventsPerStep,
  killAfter,
  openPlace,
  places,
  stepsBefore,
} from '../../../server/test/crash/killed-program.ts'
import type { Place } from '../../../server/test/crash/killed-program.ts'
import { batch, draft, feedKey, tenantA, tenantB } from '../../../server/test/store/support/drafts.ts'
import { erase, subject } from '../../../server/test/store/support/erasing.ts'
import { parseEvent, publish } from '../../../server/test/store/support/read-back.ts'
import { withTenants } from '../../../server/test/store/support/stores.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { removeFolder, temporaryFolder } from '../support/program.ts'

const actor = 'cli:test'
const program = new URL('../support/delete-steps.ts', import.meta.url).href
const [eventCount, kills] = isLongRun ? [6_000, 40] : [60, 2]
const perStep = eventsPerStep(eventCount, kills)
/** The first one comes when the export is whole and the store does not know of it yet, in the long run some in the middle of it. */
const stepsOf = (kill: number): number => (kill === 1 ? 2 : stepsBefore(kill + 3))

const ownKeys = ['onlyofaaaaaa', 'onlyofbbbbbb']
const sharedKey = 'ofbothcccccc'

/** As a store shows them. */
type Events = Readonly<Record<FeedName, readonly FeedEvent[]>>

interface Made {
  readonly events: Events
  readonly others: Events
  readonly counts: OwnedCounts
}

async function eventsOf(store: StorageEngine, tenantId: string): Promise<Events> {
  const [property = [], contact = []] = await Promise.all(
    feedNames.map((feed) => eventsIn(store, feedKey(tenantId, feed))),
  )
  return { property, contact }
}

/** Those that are there: a list would be as long as the counter says. */
async function eventsIn(store: StorageEngine, key: FeedKey): Promise<readonly FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let after = 0; ;) {
    const some = await store.events.readAfter({ key, view: 'all', after, limit: 500, latestOnly: false })
    events.push(...some.map(({ json }) => parseEvent(json)))
    if (some.length < 500) return events
    after = events.at(-1)?.sequenceNumber ?? after
  }
}

/** Two tenants that own the same; the first is suspended. */
async function makeIn(place: Place): Promise<Made> {
  await using store = await withTenants(await openPlace(place, true))
  for (const tenantId of [tenantA, tenantB]) {
    const [properties, contacts] = [feedKey(tenantId), feedKey(tenantId, 'contact')]
    const count = tenantId === tenantA ? eventCount : 12
    for (let from = 0; from < count; from += 300) {
      const names = Array.from(
        { length: Math.min(300, count - from) },
        (_, index) => `p${(from + index) % 500}`,
      )
      await publish(
        store,
        names.map((name) => draft({ subject: name, text: `${from}` })),
        { key: properties },
      )
    }
    await publish(store, [draft({ subject: 'c' }), draft({ subject: 'd' })], { key: contacts })
    await erase(store, subject('d'), { key: contacts })
  }
  for (const [keyId, tenantIds] of [
    ...ownKeys.map((id) => [id, [tenantA]] as const),
    [sharedKey, [tenantA, tenantB]] as const,
  ]) {
    const grants = tenantIds.map((tenantId) => ({ tenantId, scopes: ['property:read'] as const }))
    const secret = { secretHash: new Uint8Array(32), pepperId: 'p' }
    const times = { createdMs: 0, expiresMs: undefined, revokedMs: undefined, lastUsedMs: undefined }
    const record = { keyId, ...secret, label: '', operator: false, grants, ...times, rate: undefined }
    await store.keys.insertKey(record, actor)
  }
  await store.tenants.changeTenant(tenantA, { suspended: true }, actor)
  const counted = await store.deletions.count(tenantA)
  assert.ok(counted.kind === 'counted')
  return {
    events: await eventsOf(store, tenantA),
    others: await eventsOf(store, tenantB),
    counts: counted.counts,
  }
}

/** The rows of the audit that a deletion makes, as `action target`. */
async function deletionRows(store: StorageEngine): Promise<readonly string[]> {
  const rows = await store.audit.read({ first: 'oldest', limit: 1_000, tenant: tenantA })
  assert.ok(rows !== 'unknownRow')
  const told = rows.filter(({ action }) => /^tenant\.delet|^key\.removed/.test(action))
  return told.map(({ action, target }) => `${action} ${target}`)
}

/** The certificate; read again until it stands still: what a server was at when its client was killed, it may end after that. */
async function settled(store: StorageEngine): Promise<Deletion | undefined> {
  const read = async () => (await store.deletions.list(undefined, 10))[0]
  for (let found = await read(); ;) {
    const again = await read()
    if (JSON.stringify(again, bigintText) === JSON.stringify(found, bigintText)) return found
    found = again
  }
}

function bigintText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function digestOf(events: readonly FeedEvent[]): string {
  return events.reduce((digest, { sequenceNumber, id }) => {
    const line = Buffer.concat([Buffer.from(digest, 'hex'), Buffer.from(`${sequenceNumber} ${id}\n`)])
    return createHash('sha256').update(line).digest('hex')
  }, '0'.repeat(64))
}

/** It is the file that the certificate names. */
function checkExport({ exported }: Deletion, file: string): void {
  assert.ok(existsSync(file), 'rows go only once the export is there')
  const bytes = readFileSync(file)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  assert.deepEqual([exported?.bytes, exported?.sha256], [bytes.length, sha256])
}

/** It holds all that there was. */
async function openExport(file: string, { events }: Made): Promise<void> {
  await using opened = await openStorage({ kind: 'sqlite', folder: storeFileOf(file), create: false })
  assert.deepEqual(await eventsOf(opened, tenantA), events)
  const keyIds = await opened.keys.keyIds()
  assert.deepEqual(keyIds.toSorted(), [...ownKeys, sharedKey].toSorted())
}

/** Rows, keys, audit and certificate say the same, whatever the moment. Answers whether the tenant is gone. */
async function check(place: Place, file: string, made: Made): Promise<boolean> {
  await using store = await openPlace(place)
  const deletion = await settled(store)
  const told = await deletionRows(store)
  assert.deepEqual(await eventsOf(store, tenantB), made.others, 'nothing of another tenant')
  if (deletion === undefined) {
    assert.deepEqual(told, [])
    assert.deepEqual(await eventsOf(store, tenantA), made.events, 'nothing of it has begun')
    return false
  }
  const { deletionId, state, counts, digests } = deletion
  const isDeleted = state === 'deleted'
  const begunRow = `tenant.deletion_begun ${deletionId}`
  assert.deepEqual(
    told.filter((row) => row.startsWith('tenant.')),
    [begunRow, ...(isDeleted ? [`tenant.deleted ${deletionId}`] : [])],
  )
  const keyIds = new Set(await store.keys.keyIds())
  const gone = ownKeys.filter((keyId) => !keyIds.has(keyId))
  const removed = told.filter((row) => row.startsWith('key.removed')).map((row) => row.split(' ')[1])
  assert.deepEqual(
    removed.filter((keyId) => keyId !== sharedKey),
    gone,
    'no key goes without its row',
  )
  assert.equal(counts.keys, gone.length)
  const left = isDeleted ? { property: [], contact: [] } : await eventsOf(store, tenantA)
  let removedEvents = 0
  for (const feed of feedNames) {
    const all = made.events[feed]
    const rest = left[feed]
    assert.deepEqual(rest, all.slice(all.length - rest.length), 'the oldest go first')
    assert.equal(
      digests[feed],
      digestOf(all.slice(0, all.length - rest.length)),
      'the digest is of what went',
    )
    removedEvents += all.length - rest.length
  }
  assert.equal(counts.events, removedEvents)
  if (state === 'exporting') assert.equal(removedEvents, 0)
  else checkExport(deletion, file)
  if (isDeleted) assert.deepEqual(counts, made.counts, 'as many as were counted before')
  else
    assert.deepEqual(await store.events.append([batch([draft({ subject: 'p' })])]), [
      { kind: 'tenantMoving' },
    ])
  return isDeleted
}

async function endsWhenKilled(place: Place): Promise<void> {
  const root = temporaryFolder()
  const file = join(root, 'exported.db')
  const made = await makeIn(place)
  const words = [tenantA, file, String(perStep)]
  let isDeleted = await check(place, file, made)
  for (let kill = 1; kill <= kills && !isDeleted; kill += 1) {
    await killAfter(program, place, kill === 1 ? [...words, 'rest'] : words, stepsOf(kill))
    if (kill === 1) assert.ok(existsSync(file), 'the export is whole')
    isDeleted = await check(place, file, made)
  }
  await killAfter(program, place, words, Infinity)
  assert.ok(await check(place, file, made), 'it comes to its end')
  await openExport(file, made)
  await using store = await openPlace(place)
  const again = { tenantId: tenantA, name: 'Agency 1', createdMs: 0, suspended: false }
  assert.equal(await store.tenants.createTenant(again, actor), 'created', 'its name and its id are free')
  removeFolder(root)
}

describe('deleting a tenant that is killed', () => {
  for (const [engine, within] of places) {
    it(`is never half done: export, rows, audit and certificate agree, and it continues, on ${engine} (PROTOCOL §12.9, P7)`, () =>
      within(endsWhenKilled))
  }
})
