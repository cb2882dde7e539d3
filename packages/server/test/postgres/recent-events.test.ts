/** Polls for what a node has just committed, on PostgreSQL: from memory, and always what the database has. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, uuid } from '../store/support/drafts.ts'
import { erase, subject } from '../store/support/erasing.ts'
import { headOf, located, parseEvent, publish } from '../store/support/read-back.ts'
import { contacts, restrict } from '../store/support/restricting.ts'
import { withTenants } from '../store/support/stores.ts'
import { ticks } from '../store/support/test-clock.ts'
import { isLongRun } from '../support/on-engines.ts'
import { pollBoth } from './support/poll-both.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

/** Only contacts can be restricted as well as erased. */
const key = contacts
const subjects = ['Tŷ £250,000 – 🏡', 'Llŷn', 'Flat 1–2']

describe('polls for fresh events on PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  const open = (url: string): Promise<StorageEngine> =>
    openStorage({ kind: 'postgres', url, create: true, catalogue: catalogues.default })

  it('read no event of the database, by time and by number, where this node has published them (P4)', async () => {
    const url = await databases.create()
    await using one = await withTenants(await open(url))
    await using two = await open(url)
    const [first] = await publish(one, [draft({ subject: 'first' })], { key })
    const from = ticks(first?.stored?.createdDate ?? '') + 1n
    assert.equal((await located(one, { key, from })).range.count, 0, 'kept from now on')
    const drafts = [draft({ subject: 'Llŷn' }), draft({ subject: 'Tŷ £1 🏡' })]
    const [, second] = await publish(one, drafts, { key })
    await using client = await connected(url)
    await client.query('ALTER TABLE event RENAME TO not_there')
    const { range, head } = await located(one, { key, from: ticks(second?.stored?.createdDate ?? '') })
    assert.deepEqual(range, { key, view: 'all', first: 3, count: 1 })
    const [piece] = await one.events.readRange({ ...range, head })
    const run = { key, view: 'all', after: 1, limit: 10, latestOnly: false } as const
    const events = await one.events.readAfter({ ...run, head })
    assert.deepEqual(events.at(-1)?.json, Uint8Array.from(piece ?? []))
    await client.query('ALTER TABLE not_there RENAME TO event')
    assert.deepEqual(
      events.map(({ json }) => parseEvent(json)),
      (await two.events.readAfter(run)).map(({ json }) => parseEvent(json)),
    )
    assert.equal((await located(one, { key, from })).range.count, 2)
  })

  it('are as another node has left them by erasing and restricting, though nobody has told this one (D17)', async () => {
    const url = await databases.create()
    await using one = await withTenants(await open(url))
    await using two = await open(url)
    for (const reduce of [() => erase(two, subject('Llŷn'), { key }), () => restrict(two, 'Llŷn')]) {
      const [oldest] = await publish(one, [draft({ subject: 'Tŷ' })], { key })
      const from = ticks(oldest?.stored?.createdDate ?? '') + 1n
      const after = oldest?.stored?.sequenceNumber ?? 0
      await pollBoth(one, key, from, after)
      const drafts = ['£1', '£2'].map((text) => draft({ subject: 'Llŷn', text }))
      await publish(one, drafts, { key })
      await pollBoth(one, key, from, after)
      await reduce()
      await pollBoth(one, key, from, after)
    }
  })

  it('give what the database has, whatever this node and another publish, erase and restrict (P1, P3, P4, D13, D17)', async () => {
    const step = fc.record({
      act: fc.constantFrom('publish', 'publish', 'publish', 'publish', 'erase', 'restrict', 'epoch'),
      there: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      of: fc.nat(subjects.length - 1),
      count: fc.integer({ min: 1, max: 4 }),
      back: fc.nat(6),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 20 }), async (steps) => {
        const url = await databases.create()
        await using one = await withTenants(await open(url))
        await using two = await open(url)
        const times: bigint[] = [0n]
        for (const [nth, { act, there, of, count, back }] of steps.entries()) {
          const name = subjects[of] ?? ''
          const node = there ? two : one
          const head = await headOf(one, key)
          const isKnown = (await node.events.readLatest(key, uuid(name))) !== undefined
          if (act === 'publish') {
            const drafts = Array.from({ length: count }, (_, n) =>
              draft({ subject: name, text: `£${nth} ${n}` }),
            )
            for (const { stored } of await publish(node, drafts, { key }))
              times.push(ticks(stored?.createdDate ?? ''))
          } else if (act === 'epoch') await node.startEpoch(head.sequenceNumber + 1, 'cli:test')
          else if (isKnown && act === 'erase') await erase(node, subject(name), { key })
          else if (isKnown) await restrict(node, name)
          await pollBoth(one, key, times.at(-1 - back) ?? 0n, Math.max(0, head.sequenceNumber - back))
        }
      }),
      { numRuns: isLongRun ? 60 : 6 },
    )
  })
})

async function connected(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
