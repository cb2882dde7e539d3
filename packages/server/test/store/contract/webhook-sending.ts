import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { deliveriesKept, deliveriesKeptMs, noticesKeptMs } from '../../../src/webhooks/endpoint.ts'
import type { Lease } from '../../../src/webhooks/endpoint.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { tenantA, tenantB } from '../support/drafts.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'
import { testClock } from '../support/test-clock.ts'
import {
  deliveryOf,
  eventNamed,
  givenUpOf,
  leaseMs,
  leaseOf,
  progressOf,
  recordOf,
  secretNamed,
  stored,
  withEndpoint,
} from '../support/webhooks.ts'

const idsOf = (leases: readonly { readonly endpoint: { readonly endpointId: string } }[]) =>
  leases.map(({ endpoint }) => endpoint.endpointId)

/** Each is a node that sends; the names are in the order in which they began. */
async function nodesOf({ webhooks }: StorageEngine, count: number): Promise<readonly string[]> {
  const nodes = Array.from({ length: count }, () => randomUUID())
  for (const node of nodes) await webhooks.renew(node, leaseMs)
  return nodes
}

export function webhookSendingContract(factory: StoreFactory): void {
  leasesContract(factory)
  progressContract(factory)
  logContract(factory)
}

function leasesContract(factory: StoreFactory): void {
  describe('leases of webhooks', () => {
    it('are taken of enabled endpoints, each with what sending needs, and renewed until they are given back (PROTOCOL §16, W5)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const endpoints = [await withEndpoint(store), await withEndpoint(store), await withEndpoint(store)]
      const paused = await withEndpoint(store)
      const state = { kind: 'paused', reason: 'asked', sinceMs: 1 } as const
      await webhooks.change(paused.endpointId, { state }, 'cli:test')
      const node = randomUUID()
      assert.deepEqual(await webhooks.renew(node, leaseMs), { held: [], enabled: 3, senders: 1 })
      const first = await webhooks.claim(node, 2, leaseMs)
      const rest = await webhooks.claim(node, 10, leaseMs)
      assert.deepEqual(
        [...first, ...rest].map(({ endpoint }) => endpoint),
        endpoints.map(recordOf),
      )
      assert.deepEqual(await webhooks.claim(node, 10, leaseMs), [])
      const held = [...first, ...rest].map(({ leaseNo, endpoint: { endpointId } }) => ({
        endpointId,
        leaseNo,
      }))
      assert.deepEqual(await webhooks.renew(node, leaseMs), { held, enabled: 3, senders: 1 })
      const [given] = idsOf(first)
      assert.ok(given)
      await webhooks.release(node, [given])
      assert.deepEqual((await webhooks.renew(node, leaseMs)).held, held.slice(1))
      const [again] = await webhooks.claim(node, 10, leaseMs)
      assert.equal(again?.endpoint.endpointId, given)
      assert.notEqual(again.leaseNo, held[0]?.leaseNo)
      await webhooks.release(node)
      assert.deepEqual(await webhooks.renew(randomUUID(), leaseMs), { held: [], enabled: 3, senders: 1 })
      assert.equal((await webhooks.claim(randomUUID(), 10, leaseMs)).length, 3)
    })

    it('cost nothing while no endpoint is enabled: who has nothing to send is not written down (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const [idle, busy] = [randomUUID(), randomUUID()]
      const nothing = { held: [], enabled: 0, senders: 0 }
      assert.deepEqual(await webhooks.renew(idle, leaseMs), nothing)
      const { endpointId } = await withEndpoint(store)
      const paused = { kind: 'paused', reason: 'asked', sinceMs: 1 } as const
      await webhooks.change(endpointId, { state: paused }, 'cli:test')
      assert.deepEqual(await webhooks.renew(idle, leaseMs), nothing)
      await webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'cli:test')
      assert.deepEqual(await webhooks.renew(busy, leaseMs), { held: [], enabled: 1, senders: 1 })
    })

    it('are of one node each, however many claim at the same time; where one alone serves, the last has all (PROTOCOL §16, W5)', async () => {
      await using store = await withTenants(await factory.create())
      const {
        webhooks,
        nodes: { isShared },
      } = store
      for (let made = 0; made < 12; made += 1) await withEndpoint(store)
      const nodes = await nodesOf(store, 3)
      const { enabled, senders } = await webhooks.renew(nodes[2] ?? '', leaseMs)
      assert.deepEqual({ enabled, senders }, { enabled: 12, senders: isShared ? 3 : 1 })
      const share = Math.ceil(enabled / senders)
      const claimed: Lease[][] = nodes.map(() => [])
      // Nodes that claim at the same time leave each other's rows out, so it may take more than one turn.
      for (let turn = 0; claimed.flat().length < enabled; turn += 1) {
        assert.ok(turn < 20)
        const more = await Promise.all(
          nodes.map((node, index) => webhooks.claim(node, share - (claimed[index]?.length ?? 0), leaseMs)),
        )
        for (const [index, leases] of more.entries()) claimed[index]?.push(...leases)
      }
      const counts = claimed.map((leases) => leases.length)
      assert.equal(new Set(idsOf(claimed.flat())).size, enabled)
      if (isShared) assert.deepEqual(counts, [4, 4, 4])
      const heldBy = async (node: string) => (await webhooks.renew(node, leaseMs)).held.length
      const held = []
      for (const node of nodes) held.push(await heldBy(node))
      assert.deepEqual(held, isShared ? [4, 4, 4] : [12, 0, 0])
      const last = await webhooks.claim(nodes[2] ?? '', enabled, leaseMs)
      assert.equal(last.length, isShared ? 0 : 12)
    })

    it('are written with only where everything that was written before is there (PROTOCOL §16, W1)', async () => {
      await using store = await withTenants(await factory.create())
      const { endpointId } = await withEndpoint(store)
      const lease = await leaseOf(store, endpointId, randomUUID())
      const first = progressOf(lease, { settled: 110 })
      const second = progressOf(lease, { settled: 120 })
      const third = progressOf(lease, { settled: 130 })
      assert.deepEqual(await store.webhooks.save([second]), [endpointId])
      assert.deepEqual(await store.webhooks.save([first]), [])
      assert.deepEqual(await store.webhooks.save([first]), [endpointId])
      assert.deepEqual(await store.webhooks.save([third]), [endpointId])
      assert.deepEqual(await store.webhooks.save([second]), [])
      assert.equal((await stored(store, endpointId)).progress.settled, 120)
    })

    it('of a node that is late are anybody else’s, whole, and one that comes back has none of them (PROTOCOL §16, W5)', async () => {
      const { clock, set } = testClock('2026-03-01T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const {
        webhooks,
        nodes: { isShared },
      } = store
      const { endpointId } = await withEndpoint(store)
      const [late, other] = [randomUUID(), randomUUID()]
      const former = await leaseOf(store, endpointId, late)
      if (isShared) {
        set('2026-03-01T12:00:39')
        await webhooks.renew(other, leaseMs)
        assert.deepEqual(await webhooks.claim(other, 10, leaseMs), [])
        // It comes late, but before anybody else has looked: everything is still its own.
        set('2026-03-01T12:01:00')
        assert.deepEqual((await webhooks.renew(late, leaseMs)).held, [
          { endpointId, leaseNo: former.leaseNo },
        ])
        set('2026-03-01T12:01:41')
      }
      // Where one node serves at a time, the one before has ended.
      await webhooks.renew(other, leaseMs)
      const [lease] = await webhooks.claim(other, 10, leaseMs)
      assert.equal(lease?.endpoint.endpointId, endpointId)
      if (isShared) assert.deepEqual((await webhooks.renew(late, leaseMs)).held, [])
      assert.deepEqual(await webhooks.save([progressOf(former, { settled: 150 })]), [endpointId])
      assert.deepEqual(await webhooks.save([progressOf(lease, { settled: 110 })]), [])
      assert.equal((await stored(store, endpointId)).progress.settled, 110)
    })

    it('are never of two nodes, whoever of them comes first once one is late (PROTOCOL §16, W5)', async () => {
      const { clock, set } = testClock('2026-03-01T12:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const {
        webhooks,
        nodes: { isShared },
      } = store
      const { endpointId } = await withEndpoint(store)
      const [late, other] = [randomUUID(), randomUUID()]
      for (let round = 10; round < 40; round += 1) {
        await leaseOf(store, endpointId, late)
        set(`2026-03-01T12:${round}:00`)
        const taken = async () => {
          await webhooks.renew(other, leaseMs)
          return webhooks.claim(other, 1, leaseMs)
        }
        // Where one node serves at a time, the one before does not come back.
        const kept = async () => (isShared ? (await webhooks.renew(late, leaseMs)).held : [])
        const [{ length: ofOther }, { length: ofLate }] = await Promise.all([taken(), kept()])
        assert.ok(ofOther + ofLate <= 1, 'two nodes have the lease')
        if (!isShared) assert.equal(ofOther, 1)
        for (const node of [late, other]) await webhooks.release(node)
      }
    })
  })
}

function progressContract(factory: StoreFactory): void {
  describe('progress of webhooks', () => {
    it('is written for all endpoints of a node together: cursor, what waits, what was given up, versions (PROTOCOL §16, W1)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const [one, two] = [await withEndpoint(store), await withEndpoint(store)]
      const leases = await webhooks.claim(randomUUID(), 10, leaseMs)
      const [first, second] = leases
      assert.ok(first && second)
      const [gwyn, coch, fferm] = [
        eventNamed('Tŷ Gwyn', 101),
        eventNamed('Plas Coch', 102),
        eventNamed('Fferm', 103),
      ]
      const waiting = [gwyn, coch].map((event) => ({ ...event, tries: 1, nextTryMs: 1_800_000_000_123.75 }))
      const acknowledged = { sequenceNumber: 164, atMs: 1_800_000_000_000 }
      assert.deepEqual(
        await webhooks.save([
          progressOf(first, {
            settled: 164,
            rows: { waiting },
            acknowledged,
            versions: [fferm, eventNamed('Fferm', 160)],
          }),
          progressOf(second, { settled: 110, failingSinceMs: 1_800_000_000_000, epoch: 'epoch-2' }),
        ]),
        [],
      )
      const later = { ...gwyn, sequenceNumber: 150, tries: 0, nextTryMs: 0 }
      const removed = [coch.subjectId, fferm.subjectId]
      // Written twice, as after an answer that was lost.
      for (const settled of [170, 170]) {
        await webhooks.save([
          progressOf(first, { settled, rows: { waiting: [later], removed, givenUp: [coch] } }),
          progressOf(second, {}),
        ])
      }
      assert.deepEqual(await webhooks.waiting(one.endpointId, 10), [later])
      assert.deepEqual(await givenUpOf(store, one.endpointId), [coch])
      assert.deepEqual(await webhooks.givenUp(one.endpointId, coch.sequenceNumber, 10), [])
      assert.equal(await webhooks.version(one.endpointId, fferm.subjectId), 160)
      assert.equal(await webhooks.version(one.endpointId, gwyn.subjectId), undefined)
      assert.deepEqual((await stored(store, one.endpointId)).progress, {
        settled: 170,
        epoch: 'epoch-1',
        failingSinceMs: undefined,
        waiting: 1,
        givenUp: 1,
        acknowledged,
      })
      const other = (await stored(store, two.endpointId)).progress
      assert.deepEqual(other.failingSinceMs, 1_800_000_000_000)
      await webhooks.save([progressOf(second, { settled: 111 })])
      const { settled, failingSinceMs, epoch } = (await stored(store, two.endpointId)).progress
      assert.deepEqual(
        { settled, failingSinceMs, epoch },
        { settled: 111, failingSinceMs: undefined, epoch: 'epoch-1' },
      )
    })

    it('of a sender that lost one lease changes nothing of that endpoint, and all of the others (PROTOCOL §16, W5)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const [lost, kept] = [await withEndpoint(store), await withEndpoint(store)]
      const node = randomUUID()
      const leases = await webhooks.claim(node, 10, leaseMs)
      await webhooks.release(node, [lost.endpointId])
      const event = eventNamed('Tŷ Gwyn', 101)
      const progress = leases.map((lease) =>
        progressOf(lease, {
          settled: 150,
          rows: { waiting: [{ ...event, tries: 1, nextTryMs: 0 }], givenUp: [event] },
          acknowledged: { sequenceNumber: 150, atMs: 1 },
          versions: [event],
          deliveries: [{ event }],
          notice: 'webhook.failing',
          disable: 'gone',
        }),
      )
      assert.deepEqual(await webhooks.save(progress), [lost.endpointId])
      assert.deepEqual(await stored(store, lost.endpointId), recordOf(lost))
      assert.equal(await webhooks.version(lost.endpointId, event.subjectId), undefined)
      assert.deepEqual(
        await webhooks.deliveries({ endpointId: lost.endpointId, before: undefined, limit: 9 }),
        [],
      )
      const {
        state,
        progress: { settled },
      } = await stored(store, kept.endpointId)
      assert.deepEqual([state.kind, settled], ['disabled', 150])
      const notices = await webhooks.notices({ tenantId: tenantA, feed: 'property', after: 0, limit: 9 })
      assert.ok(notices.every(({ endpointId }) => endpointId === kept.endpointId))
    })

    it('disables an endpoint with a notice and a row in the audit, and takes its lease (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const foreign = await withEndpoint(store, { tenantId: tenantB, settings: { feed: 'contact' } })
      const leases = await webhooks.claim(randomUUID(), 10, leaseMs)
      await webhooks.save(leases.map((lease) => progressOf(lease, { notice: 'webhook.failing' })))
      const [own] = leases.filter(({ endpoint }) => endpoint.endpointId === endpointId)
      assert.ok(own)
      await webhooks.save([progressOf(own, { disable: 'gone' })])
      assert.deepEqual(await webhooks.save([progressOf(own, { settled: 150 })]), [endpointId])
      const query = { tenantId: tenantA, feed: 'property', after: 0, limit: 9 } as const
      const notices = await webhooks.notices(query)
      assert.deepEqual(
        notices.map(({ kind, reason, endpointId: of }) => [kind, reason, of]),
        [
          ['webhook.failing', undefined, endpointId],
          ['webhook.disabled', 'gone', endpointId],
        ],
      )
      assert.deepEqual(
        await webhooks.notices({ ...query, after: notices[0]?.noticeNo ?? 0 }),
        notices.slice(1),
      )
      assert.deepEqual(await webhooks.notices({ ...query, limit: 1 }), notices.slice(0, 1))
      const others = await webhooks.notices({ ...query, tenantId: tenantB, feed: 'contact' })
      assert.deepEqual(
        others.map((notice) => notice.endpointId),
        [foreign.endpointId],
      )
      const rows = await store.audit.read({ first: 'oldest', limit: 9, action: 'webhook.disabled' })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, tenant, target, detail }) => [actor, tenant, target, detail]),
        [['service', tenantA, endpointId, { reason: 'gone' }]],
      )
    })
  })
}

function logContract(factory: StoreFactory): void {
  describe('the log of webhooks', () => {
    it('has each try, the newest first, by outcome and by property (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const lease = await leaseOf(store, endpointId)
      const [gwyn, coch] = [eventNamed('Tŷ Gwyn', 101), eventNamed('Plas Coch', 102)]
      const tries = [
        deliveryOf(endpointId, {
          event: gwyn,
          outcome: 'refused',
          status: 422,
          answer: 'Dim ystafelloedd – £0? 🏡',
        }),
        deliveryOf(endpointId, { messageId: 'msg_epoch-1_0' }),
        deliveryOf(endpointId, {
          event: coch,
          outcome: 'unreachable',
          status: undefined,
          answer: 'ECONNREFUSED',
        }),
        deliveryOf(endpointId, { event: gwyn, tookMs: 29_999 }),
      ]
      await webhooks.save([progressOf(lease, { deliveries: tries.slice(0, 2) })])
      await webhooks.save([progressOf(lease, { deliveries: tries.slice(2) })])
      const all = tries.map((one, index) => ({ ...one, deliveryNo: index + 1 })).toReversed()
      const query = { endpointId, before: undefined, limit: 10 }
      assert.deepEqual(await webhooks.deliveries(query), all)
      assert.deepEqual(await webhooks.deliveries({ ...query, before: 4, limit: 2 }), all.slice(1, 3))
      const ofGwyn = all.filter(({ event }) => event?.subjectId === gwyn.subjectId)
      assert.deepEqual(await webhooks.deliveries({ ...query, subjectId: gwyn.subjectId }), ofGwyn)
      assert.deepEqual(await webhooks.deliveries({ ...query, outcome: 'refused' }), all.slice(3))
      assert.deepEqual(
        await webhooks.deliveries({ ...query, outcome: 'refused', subjectId: coch.subjectId }),
        [],
      )
      // What a database would refuse of an answer, or of a clock, refuses no progress.
      await webhooks.save([progressOf(lease, { deliveries: [{ answer: 'a\0b\ud800', tookMs: 1.5 }] })])
      const [odd] = await webhooks.deliveries({ ...query, limit: 1 })
      assert.deepEqual([odd?.answer, odd?.tookMs], ['ab\ufffd', 2])
    })

    it('is kept for 7 days, and 10,000 tries of an endpoint, and goes in small steps (PROTOCOL §16)', async () => {
      const { clock, set } = testClock('2026-03-01T00:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const { webhooks } = store
      const beganMs = Date.UTC(2026, 2, 1)
      const [long, old] = [await withEndpoint(store), await withEndpoint(store)]
      const leases = await webhooks.claim(randomUUID(), 10, leaseMs)
      const [first, second] = leases
      assert.ok(first && second)
      const some = (atMs: number, length: number) => Array.from({ length }, () => ({ atMs }))
      await webhooks.save([
        progressOf(first, { deliveries: some(beganMs, deliveriesKept + 1_200) }),
        progressOf(second, {
          deliveries: [...some(beganMs - deliveriesKeptMs - 1, 3), ...some(beganMs - deliveriesKeptMs, 1)],
        }),
      ])
      const steps: number[] = []
      for (let removed = 1; removed > 0; steps.push(removed)) removed = await webhooks.prune()
      assert.equal(
        steps.reduce((sum, removed) => sum + removed),
        1_203,
      )
      assert.ok(Math.max(...steps) <= 1_000)
      const limit = 20_000
      const left = await webhooks.deliveries({ endpointId: long.endpointId, before: undefined, limit })
      assert.deepEqual([left.length, left.at(-1)?.deliveryNo], [deliveriesKept, 1_201])
      const query = { endpointId: old.endpointId, before: undefined, limit }
      assert.deepEqual(
        (await webhooks.deliveries(query)).map(({ deliveryNo }) => deliveryNo),
        [4],
      )
      set('2026-03-08T00:00:01')
      while ((await webhooks.prune()) > 0);
      assert.deepEqual(await webhooks.deliveries(query), [])
      assert.deepEqual(await webhooks.deliveries({ ...query, endpointId: long.endpointId }), [])
    })

    it('has notices for 30 days, and no secret longer than it signs (PROTOCOL §16)', async () => {
      const { clock, set } = testClock('2026-03-01T00:00:00')
      await using store = await withTenants(await factory.create({ clock }))
      const { webhooks } = store
      const { endpointId } = await withEndpoint(store)
      const presentEndMs = Date.UTC(2026, 2, 2)
      await webhooks.change(endpointId, { secret: { added: secretNamed('new'), presentEndMs } }, 'cli:test')
      await webhooks.save([progressOf(await leaseOf(store, endpointId), { notice: 'webhook.recovered' })])
      assert.equal(await webhooks.prune(), 0)
      set('2026-03-02T00:00:00')
      assert.equal(await webhooks.prune(), 1)
      assert.equal((await stored(store, endpointId)).secrets.length, 1)
      const query = { tenantId: tenantA, feed: 'property', after: 0, limit: 9 } as const
      assert.equal((await webhooks.notices(query)).length, 1)
      assert.equal(noticesKeptMs, 30 * 86_400_000)
      set('2026-03-31T00:00:01')
      assert.equal(await webhooks.prune(), 1)
      assert.deepEqual(await webhooks.notices(query), [])
    })

    it('has secrets of an earlier pepper until they are sealed with another, once (PROTOCOL §16)', async () => {
      await using store = await withTenants(await factory.create())
      const { webhooks } = store
      const { endpointId, secret } = await withEndpoint(store)
      assert.deepEqual(await webhooks.secrets('', 9), [{ ...secret, endpointId }])
      assert.deepEqual(await webhooks.secrets(secret.secretId, 9), [])
      const to = { sealed: new Uint8Array([1, 2, 3]), pepperId: 'new' }
      await webhooks.reseal(secret.secretId, 'another', to)
      assert.deepEqual((await stored(store, endpointId)).secrets, [secret])
      await webhooks.reseal(secret.secretId, 'pepper', to)
      assert.deepEqual((await stored(store, endpointId)).secrets, [{ ...secret, ...to }])
    })
  })
}
