/** Contacts that have not changed for long are erased after they were on a list (D17). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { expiryDayMs, listedContacts } from '../../src/privacy/contact-expiry/contact-expiry.ts'
import { expireContacts } from '../../src/privacy/contact-expiry/worker.ts'
import { ticksOfMilliseconds } from '../../src/privacy/retention/rules.ts'
import { draft, feedKey, tenantA, uuid } from '../store/support/drafts.ts'
import { codes, list, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock } from '../store/support/test-clock.ts'
import { temporaryStore } from '../support/temporary-store.ts'

const dayMs = 86_400_000
const key = feedKey(tenantA, 'contact')
/** The day from which all others are counted. */
const startMs = Date.UTC(2025, 0, 10, 12)

async function storeOfContacts() {
  const { clock } = testClock('2025-01-10T12:00:00')
  const store = await withTenants(await temporaryStore({ clock }))
  const at = (days: number): number => {
    Atomics.store(clock, 0, ticksOfMilliseconds(startMs + days * dayMs))
    return startMs + days * dayMs
  }
  await publish(
    store,
    ['c', 'd'].map((subject) => draft({ subject })),
    { key },
  )
  const { signal } = new AbortController()
  const begun = async () => (await store.erasures.list(tenantA, undefined, 10)).length
  const expire = async (days: number, rule = 400) => {
    const before = await begun()
    const nowMs = at(days)
    const isWhole = await expireContacts({ storage: store, tenantId: tenantA, days: rule, nowMs, signal })
    return { erased: (await begun()) - before, isWhole }
  }
  const onList = async () => {
    const listed = await Array.fromAsync(listedContacts(store.expiry, tenantA))
    return ['c', 'd'].filter((name) => listed.some(({ subjectId }) => subjectId === uuid(name)))
  }
  return { store, at, expire, onList }
}

it('lists a contact for 30 days, and erases it on the day that the list has said, and no sooner (D17)', async () => {
  const { store, expire, onList } = await storeOfContacts()
  await using open = store
  assert.deepEqual(await expire(369), { erased: 0, isWhole: true })
  assert.deepEqual(await onList(), [])
  await expire(371)
  assert.deepEqual(await onList(), ['c', 'd'])
  const [contact] = await Array.fromAsync(listedContacts(open.expiry, tenantA))
  assert.ok(contact !== undefined)
  const day = Math.floor((expiryDayMs(contact, 400) - startMs) / dayMs) + 1
  assert.equal(day, 401)
  assert.deepEqual(await expire(day - 1), { erased: 0, isWhole: true })
  assert.deepEqual(await expire(day), { erased: 2, isWhole: true })
  assert.deepEqual(codes(await list(open, { key })).slice(2), ['ContactErased', 'ContactErased'])
  const begun = await open.erasures.list(tenantA, undefined, 10)
  assert.deepEqual(
    begun.map(({ reason, actor }) => [reason, actor]),
    [
      ['no_longer_needed', 'service'],
      ['no_longer_needed', 'service'],
    ],
  )
  assert.deepEqual(await expire(day + 1), { erased: 0, isWhole: true })
})

it('gives the whole notice to those that are old already when the rule is set (D17)', async () => {
  const { store, expire, onList } = await storeOfContacts()
  await using _ = store
  assert.deepEqual(await expire(2_000), { erased: 0, isWhole: true })
  assert.deepEqual(await onList(), ['c', 'd'])
  assert.deepEqual(await expire(2_029), { erased: 0, isWhole: true })
  assert.deepEqual(await expire(2_030), { erased: 2, isWhole: true })
})

it('leaves alone what changes or is kept meanwhile, and counts from then on (D17)', async () => {
  const { store, at, expire, onList } = await storeOfContacts()
  await using open = store
  await expire(2_000)
  at(2_010)
  await publish(open, [draft({ subject: 'c', text: 'changed' })], { key })
  await open.expiry.keep(tenantA, uuid('d'), 'cli:me')
  assert.deepEqual(await expire(2_030), { erased: 0, isWhole: true })
  assert.deepEqual(await onList(), [])
  await expire(2_010 + 375)
  assert.deepEqual(await onList(), ['c', 'd'])
  assert.deepEqual(await expire(2_010 + 400), { erased: 0, isWhole: true })
  assert.deepEqual(await expire(2_010 + 405), { erased: 2, isWhole: true })
})

it('rests after each erasure that it begins: others have the writer meanwhile (D17)', async () => {
  const { store, at, expire } = await storeOfContacts()
  await using open = store
  await expire(2_000)
  const rests: number[] = []
  const rest = async (tookMs: number): Promise<void> => void rests.push(tookMs)
  const { signal } = new AbortController()
  const isWhole = await expireContacts({
    storage: open,
    tenantId: tenantA,
    days: 400,
    nowMs: at(2_030),
    signal,
    rest,
  })
  assert.ok(isWhole)
  assert.ok(rests.length === 2 && rests.every((tookMs) => tookMs >= 0))
})

it('waits with a tenant that is being moved to another store (D17)', async () => {
  const { store, expire } = await storeOfContacts()
  await using open = store
  await expire(2_000)
  await open.moves.change(tenantA, 'open', 'leaving', 'cli:test')
  assert.deepEqual(await expire(2_030), { erased: 0, isWhole: false })
  await open.moves.change(tenantA, 'leaving', 'open', 'cli:test')
  assert.deepEqual(await expire(2_030), { erased: 2, isWhole: true })
})
