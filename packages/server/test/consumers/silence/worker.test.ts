/** Looks for silence: what is told, once, by one node of all (PROTOCOL §14.7). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { uuidV7 } from '@property-events/protocol'
import { expectedInterval, settlingMs } from '../../../src/consumers/silence/rules.ts'
import { silenceCheck, watchSilence } from '../../../src/consumers/silence/worker.ts'
import type { SilenceChange } from '../../../src/consumers/silence/worker.ts'
import { presenceText } from '../../../src/consumers/silence/silence.ts'
import type { KeyRecord } from '../../../src/keys/key.ts'
import type { NewRead } from '../../../src/consumers/consumer.ts'
import type { PresenceName, SetExpectation } from '../../../src/consumers/silence/silence.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { feedKey, tenantA, tenantB } from '../../store/support/drafts.ts'
import { withTenants } from '../../store/support/stores.ts'
import { until } from '../../support/until.ts'
import { temporaryStore } from '../../support/temporary-store.ts'

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
const actor = 'cli:test'
/** A Monday, 00:00. */
const startMs = Date.parse('2026-03-02T00:00:00Z')

const consumer = (keyId = 'website', name = 'default'): PresenceName => ({ kind: 'consumer', keyId, name })
const publisher: PresenceName = { kind: 'publisher', tenantId: tenantA, feed: 'property' }

function key(keyId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    secretHash: new Uint8Array(32),
    pepperId: 'p',
    label: '',
    operator: false,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] }],
    createdMs: 0,
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
    ...changes,
  }
}

const sorted = (words: readonly string[]): readonly string[] => words.toSorted((a, b) => a.localeCompare(b))

type Node = { look(): Promise<void> }

/** A store whose nodes and whose time are moved by hand. */
async function world() {
  const store = await withTenants(await temporaryStore())
  await store.keys.insertKey(key('website'), actor)
  const told: string[] = []
  const changes: SilenceChange[] = []
  let nowMs = startMs
  const clock = () => nowMs
  const tell = (change: SilenceChange): void => {
    changes.push(change)
    told.push(`${change.name.kind} ${change.change}`)
  }
  const nodeOf = (storage: StorageEngine, telling = tell): Node => ({
    look: silenceCheck(storage, { tell: telling, clock }),
  })
  const node = nodeOf(store)
  const self = {
    store,
    told,
    changes,
    clock,
    node,
    nodeOf,
    tell,
    advance: (ms: number) => void (nowMs += ms),
    async ask(keyId = 'website', name = 'default', tenantId = tenantA) {
      const part = { view: 'all', space: 'ordinals', epoch: 'e1', quietMs: undefined } as const
      const answer = { askedMs: nowMs, status: 200, route: 'list', minutes: [] } as const
      const reading: NewRead = { key: feedKey(tenantId), keyId, name, ...part, ...answer }
      await store.consumers.add([reading])
    },
    async publish(tenantId = tenantA) {
      const counts = { requests: 1, stored: 1, repeated: 0, unchanged: 0, refused: 0 }
      const name = { key: feedKey(tenantId), keyId: 'agency', minute: Math.floor(nowMs / minuteMs) }
      await store.publications.add(
        [{ ...name, ...counts, numbers: [1, 1], warnings: {}, warningPlaces: {} }],
        [],
      )
    },
    /** Looks every four minutes, and does what is done at each. */
    async pass(ms: number, each: () => Promise<void> | void = () => undefined, by: Node = node) {
      const endMs = nowMs + ms
      while (nowMs < endMs) {
        nowMs += Math.min(4 * minuteMs, endMs - nowMs)
        await each()
        await by.look()
      }
    },
    expect: (name: PresenceName, expectation: SetExpectation | undefined) =>
      store.silence.expect(name, expectation, actor),
    /** Seen once, with an interval of an hour. */
    async settled() {
      await self.expect(consumer(), hourMs)
      await self.ask()
      await self.pass(20 * minuteMs)
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
  return self
}

describe('silence', () => {
  it('of a consumer that asked every hour is reported once, and its end once (PROTOCOL §14.7)', async () => {
    await using here = await world()
    let nextMs = startMs
    const hourly = async (): Promise<void> => {
      if (here.clock() < nextMs) return
      nextMs += hourMs
      await here.ask()
    }
    await here.pass(8 * dayMs, hourly)
    assert.deepEqual(here.told, [])
    const lastMs = nextMs - hourMs
    await here.pass(80 * minuteMs)
    assert.deepEqual(here.told, [], 'half as long again is not over')
    await here.pass(2 * hourMs)
    assert.deepEqual(here.told, ['consumer began'])
    const [began] = here.changes
    assert(began?.expected !== undefined && began.lastMs !== undefined)
    assert(began.lastMs - lastMs <= 4 * minuteMs)
    assert(began.expected.ms >= 1.5 * hourMs && began.expected.ms <= 1.5 * (hourMs + 9 * minuteMs))
    assert.equal(began.expected.isSet, false)

    await here.pass(2 * dayMs)
    assert.deepEqual(here.told, ['consumer began'], 'nothing is repeated')
    await here.ask()
    await here.pass(hourMs, hourly)
    assert.deepEqual(here.told, ['consumer began', 'consumer ended'])
    assert.equal(here.changes[1]?.isBack, true)
  })

  it('of a consumer that asks all the time is reported after a quarter of an hour, not after seconds (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.pass(8 * dayMs, () => here.ask())
    await here.pass(15 * minuteMs)
    assert.deepEqual(here.told, [])
    await here.pass(4 * minuteMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('of an agency over night and at the weekend does not count, and is reported when it is longer (PROTOCOL §14.7)', async () => {
    await using here = await world()
    let lastHour = 0
    const atWork = async (): Promise<void> => {
      const time = new Date(here.clock())
      const hour = Math.floor(here.clock() / hourMs)
      if (hour === lastHour) return
      lastHour = hour
      const isOpen = time.getUTCHours() >= 9 && time.getUTCHours() < 18
      if (isOpen && time.getUTCDay() % 6 !== 0) await here.publish()
    }
    await here.pass(16 * dayMs, atWork)
    assert.deepEqual(here.told, [])
    // From Friday evening to Monday morning there are 63 hours.
    await here.pass(3 * dayMs)
    assert.deepEqual(here.told, [])
    await here.pass(dayMs)
    assert.deepEqual(here.told, ['publisher began'])
    await here.publish()
    await here.pass(8 * minuteMs)
    assert.deepEqual(here.told, ['publisher began', 'publisher ended'])
  })

  it('is learned for a publisher from what was published before anybody looked (PROTOCOL §14.7)', async () => {
    await using here = await world()
    for (let hours = 0; hours < 10 * 24; hours += 1) {
      await here.publish()
      here.advance(hourMs)
    }
    await here.node.look()
    const [kept] = await here.store.silence.find([publisher])
    assert(kept !== undefined)
    assert.deepEqual(expectedInterval(kept, here.clock()), { ms: 1.5 * hourMs, isSet: false })
    await here.pass(1.5 * hourMs)
    assert.deepEqual(here.told, [], 'the first look gives a whole interval')
    await here.pass(10 * minuteMs)
    assert.deepEqual(here.told, ['publisher began'])
  })

  it('is reported by one of several nodes, and by the next one after a restart neither again nor never (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    const nodes = [here.nodeOf(here.store), here.nodeOf(here.store), here.nodeOf(here.store)]
    const all: Node = { look: async () => void (await Promise.all(nodes.map((node) => node.look()))) }
    await here.pass(3 * hourMs, undefined, all)
    assert.deepEqual(here.told, ['consumer began'])
    await here.pass(hourMs, undefined, here.nodeOf(here.store))
    assert.deepEqual(here.told, ['consumer began'])
    await here.ask()
    await here.pass(20 * minuteMs, undefined, here.nodeOf(here.store))
    assert.deepEqual(here.told, ['consumer began', 'consumer ended'])
  })

  it('is reported by another node if the first one ends in between (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    const killed = here.nodeOf(here.store, () => {
      throw new Error('killed')
    })
    here.advance(4 * minuteMs)
    const failing: Node = { look: () => killed.look().catch(() => undefined) }
    await here.pass(70 * minuteMs, undefined, failing)
    assert.deepEqual(here.told, [])
    await here.pass(20 * minuteMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('is not reported by a node that was held up while another took its turn (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    await here.pass(30 * minuteMs)
    const { silence } = here.store
    const held = here.nodeOf({
      ...here.store,
      silence: {
        ...silence,
        put: async (...given) => {
          here.advance(4 * minuteMs)
          await here.node.look()
          return silence.put(...given)
        },
      },
    })
    for (let looks = 0; looks < 10 && here.told.length === 0; looks += 1) {
      here.advance(4 * minuteMs)
      await held.look()
    }
    await here.pass(20 * minuteMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('is reported once the store accepts the row, if it did not before (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    const { silence } = here.store
    const put = (): Promise<never> => Promise.reject(new Error('full'))
    const full = here.nodeOf({ ...here.store, silence: { ...silence, put } })
    await here.pass(2 * hourMs, undefined, { look: () => full.look().catch(() => undefined) })
    assert.deepEqual(here.told, [])
    await here.pass(10 * minuteMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('of one that was never present is reported only if an interval was set (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.store.keys.insertKey(key('unused'), actor)
    await here.expect(consumer('website', 'search'), hourMs)
    await here.expect(publisher, 'never')
    await here.pass(50 * minuteMs)
    assert.deepEqual(here.told, [])
    await here.pass(dayMs)
    assert.deepEqual(here.told, ['consumer began'])
    assert.deepEqual(here.changes[0]?.name, consumer('website', 'search'))
    assert.equal(here.changes[0]?.lastMs, undefined)
  })

  it('is checked for consumers that made requests within the last hour, and for no older ones that nobody expects (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.ask('website', 'old')
    here.advance(2 * hourMs)
    await here.ask('website', 'new')
    here.advance(2 * minuteMs)
    await here.node.look()
    const kept = await here.store.silence.presences(undefined, 10)
    assert.deepEqual(
      kept.map(({ name }) => name),
      [consumer('website', 'new')],
    )
  })

  it('of a key that has ended does not count; if it was reported before, its end is reported (PROTOCOL §14.7)', async () => {
    await using here = await world()
    for (const keyId of ['revoked', 'expired', 'bare']) await here.store.keys.insertKey(key(keyId), actor)
    for (const keyId of ['revoked', 'expired', 'bare', 'website']) {
      await here.expect(consumer(keyId), hourMs)
      await here.ask(keyId)
    }
    await here.pass(20 * minuteMs)
    await here.store.keys.revokeKey('revoked', here.clock(), actor)
    await here.store.keys.changeKey('expired', { expiresMs: here.clock() + minuteMs }, actor)
    await here.store.keys.grant('bare', { tenantId: tenantA, scopes: ['property:publish'] }, actor)
    await here.pass(3 * hourMs)
    assert.deepEqual(here.told, ['consumer began'])
    assert.deepEqual(here.changes[0]?.name, consumer('website'))
    await here.store.keys.revokeKey('website', here.clock(), actor)
    await here.pass(20 * minuteMs)
    assert.deepEqual(here.told, ['consumer began', 'consumer ended'])
    assert.equal(here.changes[1]?.isBack, false)
  })

  it('of a key that was rotated does not count, and its setting applies to the new key (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    const fresh = { keyId: 'fresh', secretHash: new Uint8Array(32), pepperId: 'p', createdMs: here.clock() }
    await here.store.keys.rotateKey('website', { ...fresh, oldEndsMs: here.clock() + dayMs }, actor)
    await here.pass(3 * hourMs, () => here.ask('fresh'))
    assert.deepEqual(here.told, [])
    assert.deepEqual(await here.store.silence.find([consumer('website')]), [])
    assert.equal((await here.store.silence.find([consumer('fresh')]))[0]?.expectation, hourMs)
    await here.pass(2 * hourMs)
    assert.deepEqual(
      here.changes.map(({ name }) => name),
      [consumer('fresh')],
    )
  })

  it('of a suspended tenant does not count, and a whole interval begins once it is resumed (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    await here.expect(publisher, hourMs)
    await here.publish()
    await here.pass(8 * minuteMs)
    await here.store.tenants.changeTenant(tenantA, { suspended: true }, actor)
    await here.pass(dayMs)
    assert.deepEqual(here.told, [])
    await here.store.tenants.changeTenant(tenantA, { suspended: false }, actor)
    await here.pass(hourMs)
    assert.deepEqual(here.told, [])
    await here.pass(20 * minuteMs)
    assert.deepEqual(sorted(here.told), ['consumer began', 'publisher began'])
    await here.store.tenants.changeTenant(tenantA, { suspended: true }, actor)
    await here.pass(8 * minuteMs)
    assert.deepEqual(sorted(here.told.slice(2)), ['consumer ended', 'publisher ended'])
  })

  it('of a consumer of several tenants is that of all of them together (PROTOCOL §14.7)', async () => {
    await using here = await world()
    const grants = [tenantA, tenantB].map((tenantId) => ({ tenantId, scopes: ['property:read'] as const }))
    await here.store.keys.insertKey(key('portal', { grants }), actor)
    await here.expect(consumer('portal'), hourMs)
    await here.ask('portal', 'default', tenantA)
    await here.store.tenants.changeTenant(tenantA, { suspended: true }, actor)
    await here.pass(3 * hourMs, () => here.ask('portal', 'default', tenantB))
    assert.deepEqual(here.told, [])
    await here.pass(2 * hourMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('of a deleted tenant leaves nothing (PROTOCOL §12.9)', async () => {
    await using here = await world()
    await here.settled()
    await here.expect(publisher, hourMs)
    await here.publish()
    await here.pass(3 * hourMs)
    assert.equal(here.told.length, 2)
    await here.store.tenants.changeTenant(tenantA, { suspended: true }, actor)
    const deletionId = uuidV7(here.clock())
    await here.store.deletions.begin({ deletionId, tenantId: tenantA, export: 'none' }, actor)
    await here.pass(8 * minuteMs)
    assert.deepEqual(sorted(here.told.slice(2)), ['consumer ended', 'publisher ended'])
    while ((await here.store.deletions.step(deletionId, 100)) !== 'finished');
    assert.equal(await here.store.deletions.acknowledge(deletionId, undefined), 'deleted')
    await here.pass(8 * minuteMs)
    assert.deepEqual(await here.store.silence.presences(undefined, 10), [])
    assert.equal(here.told.length, 4)
  })

  it('does not count if nobody looked for hours, because the service was down or its clock stood still (PROTOCOL §14.7)', async () => {
    await using here = await world()
    await here.settled()
    here.advance(6 * hourMs)
    await here.pass(50 * minuteMs)
    assert.deepEqual(here.told, [])
    await here.ask()
    await here.pass(hourMs)
    assert.deepEqual(here.told, [])
    const [kept] = await here.store.silence.find([consumer()])
    assert(
      Math.max(...(kept?.pauses ?? []).map(({ ms }) => ms)) <= hourMs,
      'the outage is no pause of the consumer',
    )
    await here.pass(20 * minuteMs)
    assert.deepEqual(here.told, ['consumer began'])
    // A silence that was told goes on through an outage of ours.
    here.advance(6 * hourMs)
    await here.pass(dayMs)
    assert.deepEqual(here.told, ['consumer began'])
  })

  it('alternates for each, in any order of events, and the last report is true (PROTOCOL §14.7)', async () => {
    const steps = fc.array(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.integer({ min: 1, max: 90 }).map((minutes) => ({ do: 'pass', minutes }) as const),
        },
        {
          weight: 3,
          arbitrary: fc.constantFrom('ask', 'publish', 'other').map((what) => ({ do: what }) as const),
        },
        {
          weight: 1,
          arbitrary: fc
            .constantFrom('suspend', 'resume', 'never', 'hour', 'outage')
            .map((what) => ({ do: what }) as const),
        },
        { weight: 1, arbitrary: fc.constant({ do: 'second' } as const) },
      ),
      { maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        await using here = await world()
        await here.settled()
        await here.expect(publisher, 2 * hourMs)
        const second = here.nodeOf(here.store)
        for (const step of all) {
          if (step.do === 'pass') await here.pass(step.minutes * minuteMs)
          if (step.do === 'ask') await here.ask()
          if (step.do === 'other') await here.ask('website', 'other')
          if (step.do === 'publish') await here.publish()
          if (step.do === 'suspend' || step.do === 'resume') {
            await here.store.tenants.changeTenant(tenantA, { suspended: step.do === 'suspend' }, actor)
          }
          if (step.do === 'never') await here.expect(consumer(), 'never')
          if (step.do === 'hour') await here.expect(consumer(), hourMs)
          if (step.do === 'outage') here.advance(5 * hourMs)
          if (step.do === 'second') await Promise.all([second.look(), here.node.look()])
        }
        await here.pass(8 * minuteMs)
        const kept = new Map(
          (await here.store.silence.presences(undefined, 100)).map((one) => [presenceText(one.name), one]),
        )
        for (const [text, own] of Map.groupBy(here.changes, ({ name }) => presenceText(name))) {
          for (const [index, { change }] of own.entries()) {
            assert.equal(change, index % 2 === 0 ? 'began' : 'ended', text)
          }
          const isSilent = kept.get(text)?.silentMs !== undefined
          assert.equal(own.at(-1)?.change, isSilent ? 'began' : 'ended', text)
        }
        for (const { change, lastMs, expected, name } of here.changes) {
          if (change === 'began' && lastMs !== undefined) assert(expected !== undefined, presenceText(name))
        }
        // From what is kept: nobody is silent who should not be.
        for (const one of kept.values()) {
          const expected = expectedInterval(one, here.clock())
          if (one.silentMs === undefined) continue
          assert(expected !== undefined && here.clock() > one.silentMs + expected.ms + settlingMs)
        }
      }),
      { numRuns: process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 200 : 15 },
    )
  })

  it('is looked for again and again, until the node closes (PROTOCOL §14.7)', async () => {
    await using store = await temporaryStore()
    let looks = 0
    const silence = { ...store.silence, takeTurn: async () => void (looks += 1) }
    const watch = watchSilence({ ...store, silence }, { tell: () => undefined, everyMs: 1 })
    await until(() => looks >= 3)
    await watch.close()
  })
})
