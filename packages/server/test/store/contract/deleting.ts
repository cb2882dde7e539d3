import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { feedNames, uuidV7 } from '@property-events/protocol'
import type { Deletion, DeletionRequest } from '../../../src/tenants/deletion/deletion.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, feedKey, tenantA, tenantB, uuid } from '../support/drafts.ts'
import { erase, subject } from '../support/erasing.ts'
import { hold } from '../support/holding.ts'
import { list, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'

const actor = 'cli:test'
const nodeId = uuid('node')
const contacts = feedKey(tenantA, 'contact')

function request(given: Partial<DeletionRequest> = {}): DeletionRequest {
  return { deletionId: uuidV7(Date.now()), tenantId: tenantA, export: 'none', ...given }
}

async function begun(store: StorageEngine, given: Partial<DeletionRequest> = {}): Promise<Deletion> {
  const outcome = await store.deletions.begin(request(given), actor)
  if (outcome.kind !== 'begun') assert.fail(`not begun: ${outcome.kind}`)
  return outcome.deletion
}

/** Until nothing is left to remove; answers the number of steps. */
async function removeAll(store: StorageEngine, deletionId: string, limit = 2): Promise<number> {
  for (let steps = 0; steps < 1_000; steps += 1) {
    if ((await store.deletions.step(deletionId, limit)) === 'finished') return steps
  }
  return assert.fail('it does not end')
}

const key = (keyId: string, tenantIds: readonly string[]) => ({
  keyId,
  secretHash: new Uint8Array(32),
  pepperId: 'p',
  label: '',
  operator: false,
  grants: tenantIds.map((tenantId) => ({ tenantId, scopes: ['property:read'] as const })),
  createdMs: 0,
  expiresMs: undefined,
  revokedMs: undefined,
  lastUsedMs: undefined,
  rate: undefined,
})

/** Both tenants have the same of everything. */
async function ownersOf(store: StorageEngine): Promise<void> {
  for (const tenantId of [tenantA, tenantB]) {
    const properties = feedKey(tenantId)
    for (const name of ['p', 'q', 'p', 'r']) {
      await publish(store, [draft({ subject: name, text: `${Math.random()}`, implied: 'sales' })], {
        key: properties,
      })
    }
    const people = feedKey(tenantId, 'contact')
    await publish(store, [draft({ subject: 'c' }), draft({ subject: 'd' })], { key: people })
    await publish(store, [draft({ subject: 'p', text: 'same' })], { key: properties })
    await publish(store, [draft({ subject: 'p', text: 'same' })], { key: properties, unchanged: 'skip' })
    await erase(store, subject('d'), { key: people })
    await store.retention.setRule(tenantId, 'retain-contacts', 30, actor)
    const piece = { key: properties, view: 'all', hour: 480_000, block: 0, ranges: [[1, 3]] } as const
    await store.ledger.add([{ ...piece, keyId: 'abcdefghijkl' }])
    await store.leaving.begin({ tenantId, sinceMs: 1, readingEndsMs: 2 }, actor)
    await store.silence.expect({ kind: 'publisher', tenantId, feed: 'property' }, 3_600_000, actor)
  }
  await store.keys.insertKey(key('onlyofaaaaaa', [tenantA]), actor)
  await store.keys.insertKey(key('ofbothbbbbbb', [tenantA, tenantB]), actor)
  await store.tenants.changeTenant(tenantA, { suspended: true }, actor)
}

/** What is to be the same of the other tenant before and after. */
async function stateOf(store: StorageEngine, tenantId: string): Promise<unknown> {
  const counted = await store.deletions.count(tenantId)
  assert(counted.kind === 'counted')
  // A key of both is a key of one alone afterwards.
  const { keys, grants, ...counts } = counted.counts
  const query = { keyId: 'abcdefghijkl', fromHour: 0, toHour: 500_000, limit: 10 }
  return {
    feeds: counted.feeds,
    counts,
    keys: keys + grants,
    properties: await list(store, { key: feedKey(tenantId) }),
    contacts: await list(store, { key: feedKey(tenantId, 'contact') }),
    rules: await store.retention.rules(tenantId),
    sent: (await store.ledger.sent(query)).filter((piece) => piece.key.tenantId === tenantId),
    leaving: (await store.leaving.list()).filter((one) => one.tenantId === tenantId),
    erasures: await store.erasures.list(tenantId, undefined, 10),
    expected: await store.silence.find([{ kind: 'publisher', tenantId, feed: 'property' }]),
  }
}

export function deletingContract(factory: StoreFactory): void {
  describe('deleting a tenant', () => {
    it('removes everything the tenant owns in steps, and nothing of another (PROTOCOL §12.9, P10)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      const other = await stateOf(store, tenantB)
      const counted = await store.deletions.count(tenantA)
      assert(counted.kind === 'counted')
      const events = await Promise.all(
        feedNames.map((feed) =>
          store.events.readAfter({
            key: feedKey(tenantA, feed),
            view: 'all',
            after: 0,
            limit: 100,
            latestOnly: false,
          }),
        ),
      )
      const { deletionId, feeds } = await begun(store)
      assert.deepEqual(feeds, counted.feeds)
      await removeAll(store, deletionId)
      assert.equal((await store.deletions.find(deletionId))?.state, 'forgetting')
      assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'deleted')
      const last = await store.deletions.find(deletionId)
      assert.deepEqual(last?.counts, counted.counts, 'as many as were counted')
      assert.deepEqual(
        [last?.state, last?.name, last?.actor, last?.feeds],
        ['deleted', undefined, actor, counted.feeds],
      )
      assert.deepEqual(
        feedNames.map((feed) => last?.digests[feed]),
        events.map((all) =>
          all.reduce((digest, { sequenceNumber, json }) => {
            const { id } = JSON.parse(Buffer.from(json).toString()) as { readonly id: string }
            const line = Buffer.concat([Buffer.from(digest, 'hex'), Buffer.from(`${sequenceNumber} ${id}\n`)])
            return createHash('sha256').update(line).digest('hex')
          }, '0'.repeat(64)),
        ),
        'whoever has the events can make the digests',
      )
      assert.deepEqual(await stateOf(store, tenantB), other)
      assert.deepEqual(
        (await store.tenants.tenants()).map(({ tenantId }) => tenantId),
        [tenantB],
      )
      assert.equal(await store.events.head(feedKey(tenantA)), undefined)
      assert.deepEqual(
        (await store.silence.presences(undefined, 10)).map(({ name }) => name),
        [{ kind: 'publisher', tenantId: tenantB, feed: 'property' }],
      )
      assert.equal(await store.keys.findKey('onlyofaaaaaa'), undefined)
      const shared = await store.keys.findKey('ofbothbbbbbb')
      assert.deepEqual(
        shared?.record.grants.map(({ tenantId }) => tenantId),
        [tenantB],
      )
      assert.deepEqual(await store.deletions.count(tenantA), { kind: 'unknownTenant' })
      assert.deepEqual(await store.deletions.open(), [])
    })

    it('is closed from the first moment: to publications, moves, holds and its keys (PROTOCOL §12.9)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      await begun(store, { export: 'caller' })
      assert.deepEqual(await store.events.append([batch([draft({ subject: 'p' })])]), [
        { kind: 'tenantMoving' },
      ])
      assert.equal(await store.moves.change(tenantA, 'open', 'leaving', actor), 'otherState')
      const held = await store.holds.add({
        holdId: uuidV7(Date.now()),
        key: contacts,
        subjectId: uuid('c'),
        ground: 'legal_claim',
        caseRef: undefined,
        untilMs: Date.now() + 1e9,
        actor,
      })
      assert.deepEqual(held, { kind: 'tenantMoving' })
      // Not even where somebody lets its keys work again.
      await store.tenants.changeTenant(tenantA, { suspended: false }, actor)
      assert.deepEqual((await store.keys.findKey('onlyofaaaaaa'))?.suspendedTenantIds, [tenantA])
      assert.deepEqual((await store.keys.findKey('ofbothbbbbbb'))?.suspendedTenantIds, [tenantA])
      assert.equal((await store.tenants.findTenant(tenantA))?.deleting, true)
    })

    it('begins only of one whose keys do not work, that nothing keeps and that is not moved (PROTOCOL §12.9, D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await withTenants(await factory.create({ clock: time.clock }))
      const refusal = async () => {
        const asked = await store.deletions.refusal(tenantA)
        const outcome = await store.deletions.begin(request(), actor)
        assert.deepEqual(outcome, asked)
        return outcome
      }
      const unknown = await store.deletions.begin(request({ tenantId: uuid('nobody') }), actor)
      assert.deepEqual(unknown, { kind: 'unknownTenant' })
      assert.deepEqual(await refusal(), { kind: 'inUse' })
      // One that leaves can still be read until then.
      const nowMs = Date.parse('2026-03-01T10:00:00Z')
      await store.leaving.begin({ tenantId: tenantA, sinceMs: nowMs, readingEndsMs: nowMs + 60_000 }, actor)
      assert.deepEqual(await refusal(), { kind: 'inUse' })
      await store.tenants.changeTenant(tenantA, { suspended: true }, actor)
      await publish(store, [draft({ subject: 'c' })], { key: contacts })
      const untilMs = Date.parse('2026-04-01T00:00:00Z')
      const { holdId } = await hold(store, 'c', { key: contacts, holdId: uuidV7(Date.now()), untilMs })
      assert.deepEqual(await refusal(), { kind: 'onHold', holds: 1, untilMs })
      await store.holds.end(tenantA, holdId, actor)
      for (const [from, to, wanted] of [
        ['open', 'leaving', { kind: 'tenantMoving' }],
        // At home in another store, where everything was copied to.
        ['leaving', 'left', undefined],
        ['left', 'arriving one run', { kind: 'tenantMoving' }],
        ['arriving one run', 'abandoned', undefined],
        ['abandoned', 'arriving another', { kind: 'tenantMoving' }],
        ['arriving another', 'left', undefined],
      ] as const) {
        assert.equal(await store.moves.change(tenantA, from, to, actor), 'done')
        assert.deepEqual(await store.deletions.refusal(tenantA), wanted)
        if (wanted !== undefined) await refusal()
      }
      await begun(store)
    })

    it('exports first if requested, once, and is one deletion however often it is requested (PROTOCOL §12.9)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      const { deletionId, state } = await begun(store, { export: 'service' })
      assert.equal(state, 'exporting')
      assert.equal(await store.deletions.step(deletionId, 10), 'busy')
      assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'waiting')
      const node = { place: 'test', pepperIds: [], ignoresProxy: false }
      await store.nodes.announce({ ...node, nodeId })
      assert.equal(await store.deletions.takeExport(deletionId, nodeId), 'taken')
      assert.equal(await store.deletions.takeExport(deletionId, uuid('another node')), 'busy')
      await store.nodes.retire(nodeId)
      assert.equal(
        await store.deletions.takeExport(deletionId, uuid('another node')),
        'taken',
        'that one is gone',
      )
      assert.equal((await begun(store, { export: 'caller' })).deletionId, deletionId)
      const file = { file: 'tenant.db', bytes: 7, sha256: 'ab' }
      assert.equal(await store.deletions.exported(deletionId, file), 'done')
      assert.equal(await store.deletions.exported(deletionId, { ...file, bytes: 8 }), 'known')
      const again = await begun(store)
      assert.deepEqual([again.deletionId, again.state, again.exported], [deletionId, 'deleting', file])
    })

    it('ends when each live node has forgotten the tenant, with what was added until then (PROTOCOL §12.9, D17)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      const node = { place: 'test', pepperIds: [], ignoresProxy: false }
      const other = uuid('another node')
      for (const one of [nodeId, other]) await store.nodes.announce({ ...node, nodeId: one })
      const { deletionId } = await begun(store)
      assert.equal(await store.deletions.acknowledge(deletionId, nodeId), 'waiting', 'too early to say so')
      await removeAll(store, deletionId, 100)
      assert.equal(await store.deletions.acknowledge(deletionId, nodeId), 'waiting')
      assert.deepEqual((await store.deletions.open())[0]?.acknowledgedBy, [nodeId])
      await store.ledger.add([
        { key: contacts, keyId: 'abcdefghijkl', view: 'all', hour: 480_001, block: 0, ranges: [[1, 1]] },
      ])
      await store.keys.insertKey(key('latecccccccc', [tenantA]), actor)
      const taken = { tenantId: uuid('C'), name: 'tenant A', createdMs: 0, suspended: false }
      const name = (await store.tenants.tenants()).find(({ tenantId }) => tenantId === tenantA)?.name ?? ''
      assert.equal(await store.tenants.createTenant({ ...taken, name }, actor), 'nameTaken')
      assert.equal(await store.deletions.acknowledge(deletionId, other), 'deleted')
      assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'deleted')
      assert.equal(await store.tenants.createTenant({ ...taken, name }, actor), 'created')
      assert.equal(await store.keys.findKey('latecccccccc'), undefined)
    })

    it('does not wait for a node that has been silent for a minute, and for one that only hangs it does (PROTOCOL §12.9, D17)', async () => {
      const time = testClock('2026-03-01T10:00:00Z')
      await using store = await withTenants(await factory.create({ clock: time.clock }))
      await ownersOf(store)
      const [hangs, other] = [uuid('a node that hangs'), uuid('another node')]
      const node = { place: 'test', pepperIds: [], ignoresProxy: false }
      await store.nodes.announce({ ...node, nodeId: hangs })
      const { deletionId } = await begun(store, { export: 'service' })
      assert.equal(await store.deletions.takeExport(deletionId, hangs), 'taken')
      time.set('2026-03-01T10:00:59.999Z')
      assert.equal(await store.deletions.takeExport(deletionId, other), 'busy')
      time.set('2026-03-01T10:01:00Z')
      assert.equal(await store.deletions.takeExport(deletionId, other), 'taken')
      await store.deletions.exported(deletionId, { file: 'tenant.db', bytes: 7, sha256: 'ab' })
      await store.nodes.announce({ ...node, nodeId: hangs })
      await removeAll(store, deletionId, 100)
      time.set('2026-03-01T10:01:59.999Z')
      assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'waiting')
      time.set('2026-03-01T10:02:00Z')
      assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'deleted')
    })

    it('is recorded with its end, and a tenant created again with its id starts empty (PROTOCOL §12.6, PROTOCOL §12.9)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      const epoch = (await store.events.head(feedKey(tenantA)))?.epoch
      const last = (await store.tenants.tenantsAfter(0, 100)).at(-1)?.place ?? 0
      const { deletionId } = await begun(store)
      await removeAll(store, deletionId)
      await store.deletions.acknowledge(deletionId, undefined)
      const rows = await store.audit.read({ first: 'oldest', limit: 1_000, tenant: tenantA })
      assert(rows !== 'unknownRow')
      const told = rows.filter(({ action }) => /^tenant\.delet|^key\.removed/.test(action))
      assert.deepEqual(
        told.map(({ action, target, detail }) => [action, target, detail]),
        [
          ['tenant.deletion_begun', deletionId, { export: 'none' }],
          ['key.removed', 'onlyofaaaaaa', { stays: false }],
          ['key.removed', 'ofbothbbbbbb', { stays: true }],
          ['tenant.deleted', deletionId, { events: 8, keys: 1 }],
        ],
      )
      const again = { tenantId: tenantA, name: 'again', createdMs: 0, suspended: false }
      assert.equal(await store.tenants.createTenant(again, actor), 'created')
      const place = (await store.tenants.tenantsAfter(last, 100)).map(({ tenant }) => tenant.tenantId)
      assert.deepEqual(place, [tenantA], 'places of lists are never given twice')
      assert.notEqual((await store.events.head(feedKey(tenantA)))?.epoch, epoch)
      await publish(store, [draft({ subject: 'p' })])
      assert.equal((await list(store, { key: feedKey(tenantA) })).length, 1)
      assert.equal((await list(store, { key: feedKey(tenantB) })).length, 5)
      await store.tenants.changeTenant(tenantA, { suspended: true }, actor)
      await begun(store)
    })

    it('stays as a certificate, in a backup and in another store too (PROTOCOL §12.9)', async () => {
      await using store = await withTenants(await factory.create())
      await ownersOf(store)
      const { deletionId } = await begun(store)
      await removeAll(store, deletionId)
      await store.deletions.acknowledge(deletionId, undefined)
      const certificate = await store.deletions.find(deletionId)
      assert.deepEqual(await store.deletions.list(undefined, 10), [certificate])
      assert.deepEqual(await store.deletions.list(deletionId, 10), [])
      await using backup = await factory.copy(store)
      assert.deepEqual(await backup.deletions.list(undefined, 10), [certificate])
      await using other = await factory.create()
      assert(certificate !== undefined)
      for (let twice = 0; twice < 2; twice += 1) await other.deletions.take([certificate])
      assert.deepEqual(await other.deletions.list(undefined, 10), [certificate])
    })
  })

  describe('names of actors', () => {
    it('are apart from the audit: when one is erased, the rows stay as they are (PROTOCOL §12.6, P11)', async () => {
      await using store = await withTenants(await factory.create())
      const by = 'cli:operator'
      await store.names.set({ actor: 'key:abcdefghijkl', name: 'A. Person' }, by)
      await store.names.set({ actor: 'key:abcdefghijkl', name: 'A. Person' }, by)
      await store.names.set({ actor: 'cli:front-office', name: 'Front office' }, by)
      const all = ['key:abcdefghijkl', 'cli:front-office', 'cli:nobody']
      assert.deepEqual(
        await store.names.of(all),
        new Map([
          ['key:abcdefghijkl', 'A. Person'],
          ['cli:front-office', 'Front office'],
        ]),
      )
      assert.deepEqual(await store.names.of([]), new Map())
      await using backup = await factory.copy(store)
      assert.equal(await store.names.erase('key:abcdefghijkl', by), 'erased')
      assert.equal(await store.names.erase('key:abcdefghijkl', by), 'unknown')
      assert.deepEqual(await store.names.list(), [{ actor: 'cli:front-office', name: 'Front office' }])
      const rows = await store.audit.read({ first: 'oldest', limit: 100 })
      assert(rows !== 'unknownRow')
      const told = rows.filter(({ action }) => action.startsWith('actor.'))
      assert.deepEqual(
        told.map(({ action, target, actor: who }) => [action, target, who]),
        [
          ['actor.named', 'key:abcdefghijkl', by],
          ['actor.named', 'cli:front-office', by],
          ['actor.name_erased', 'key:abcdefghijkl', by],
        ],
      )
      assert.doesNotMatch(JSON.stringify(rows), /Person|Front office/, 'no row says a name')
      assert.equal((await backup.names.list()).length, 2)
    })
  })
}
