/** Markets that run for days, against the rule by which copies stop: nobody who follows one may ever be stopped by it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Publisher } from '@property-events/server'
import { countRemovals } from '../../client/src/sync/breaker.ts'
import type { RemovalWindow } from '../../client/src/sync/breaker.ts'
import { demoMarket } from '../src/demo-data/demo-market.ts'
import type { PropertyBody } from '../src/demo-data/market-event.ts'
import { sandboxChange, sandboxStart, sandboxStepMs, sandboxStepOf } from '../src/sandbox.ts'
import { marketTenants } from '../src/demo-data/tenants.ts'
import { runLive } from '../src/run-live.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2026, 10, 27, 17)
const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
/** A day and two hours, and the sandbox a while; in the long form until the demo stands still, and a week. */
const [demoMs, sandboxMs] = isLong ? [11 * 24 * hourMs, 7 * 24 * hourMs] : [26 * hourMs, 6 * hourMs]

interface Shown {
  readonly branchId: string | undefined
  readonly isLetting: boolean
}

/** A copy of what one key and one category show. Each of its removals is asked of the breaker, one by one, as a follower does. */
function followerOf(name: string, wants: (shown: Shown) => boolean) {
  const held = new Set<string>()
  const removedAt: number[] = []
  let window: RemovalWindow | undefined
  const take = (atMs: number, agentRef: string, shown: Shown | undefined): void => {
    if (shown !== undefined && wants(shown)) return void held.add(agentRef)
    if (!held.has(agentRef)) return
    const counted = countRemovals({ window, nowMs: atMs, held: held.size, affected: 1, allow: false })
    assert.equal(
      counted.kind,
      'counted',
      `${name} stops after ${(atMs - startMs) / hourMs} h, holding ${held.size}`,
    )
    if (counted.kind === 'counted') window = counted.window
    held.delete(agentRef)
    removedAt.push(atMs)
  }
  return { name, held, removedAt, take }
}

function shownBy(body: PropertyBody): readonly [agentRef: string, shown: Shown | undefined] {
  if ('remove' in body) return [body.remove.agentRef, undefined]
  const { agent_ref: agentRef, published, branch_id: branchId, minimum_term: term } = body.payload
  return [
    agentRef,
    published === true ? { branchId: branchId ?? undefined, isLetting: term !== undefined } : undefined,
  ]
}

/** Everything that somebody may follow of one agency: all, a category, a branch, and a category of a branch. */
function followersOf(tenant: number) {
  const { name, branches } = marketTenants[tenant] ?? { name: '', branches: [] }
  return [undefined, ...branches.map(({ branchId }) => branchId)].flatMap((branch) =>
    [undefined, false, true].map((isLetting) =>
      followerOf(
        `${name}, ${branch ?? 'all branches'}, ${isLetting === undefined ? 'all' : isLetting ? 'lettings' : 'sales'}`,
        (shown) =>
          (branch === undefined || shown.branchId === branch) &&
          (isLetting === undefined || shown.isLetting === isLetting),
      ),
    ),
  )
}

/** The most that went within a day, and the hour by which what went may count longer. */
function mostWithinADay(removedAt: readonly number[]): number {
  let [most, from] = [0, 0]
  for (const [index, atMs] of removedAt.entries()) {
    while (atMs - (removedAt[from] ?? 0) > 25 * hourMs) from += 1
    most = Math.max(most, index + 1 - from)
  }
  return most
}

describe('a market that is left open', () => {
  it('of the demo, at its real pace, stops nobody who follows it: no agency, category or branch', async () => {
    let nowMs = startMs
    const ends = new AbortController()
    const followers = marketTenants.map((_, tenant) => followersOf(tenant))
    const take = (tenant: number, body: PropertyBody): void => {
      const [agentRef, shown] = shownBy(body)
      for (const follower of followers[tenant] ?? []) follower.take(nowMs, agentRef, shown)
    }
    const first = new Map<number, Map<string, PropertyBody>>(
      marketTenants.map((_, tenant) => [tenant, new Map()]),
    )
    for (const { tenant, feed, body } of demoMarket({ untilMs: startMs })) {
      if (feed === 'property') first.get(tenant)?.set(shownBy(body)[0], body)
    }
    for (const [tenant, bodies] of first) for (const body of bodies.values()) take(tenant, body)
    let changes = 0
    await runLive({
      storage: { events: { head: () => Promise.resolve(undefined) } },
      publisher: {
        publish({ key, body }: Parameters<Publisher['publish']>[0]) {
          changes += 1
          const tenant = marketTenants.findIndex(({ tenantId }) => tenantId === key.tenantId)
          take(tenant, JSON.parse(body.toString()) as PropertyBody)
          return Promise.resolve()
        },
      },
      market: { untilMs: startMs },
      signal: ends.signal,
      say: (line) => assert.fail(line),
      clock: () => nowMs,
      pause(pausedMs) {
        nowMs += pausedMs
        if (nowMs - startMs > demoMs) ends.abort()
        return Promise.resolve()
      },
    })
    assert.ok(changes > 4_000, `${changes} changes`)
    for (const [all] of followers) {
      assert.ok(
        all !== undefined && all.removedAt.length >= 15,
        `${all?.removedAt.length} of ${all?.name} went`,
      )
      // So few are always let through, by any breaker and of any copy, however small.
      assert.ok(
        mostWithinADay(all.removedAt) <= 20,
        `${mostWithinADay(all.removedAt)} of ${all.name} went in a day`,
      )
    }
  })

  it('of the sandbox, stops nobody who follows it with a test key', () => {
    const first = sandboxStepOf(startMs)
    const followers = [undefined, false, true].map((isLetting) =>
      followerOf(`sandbox ${isLetting}`, (shown) => isLetting === undefined || shown.isLetting === isLetting),
    )
    const take = (step: number, body: PropertyBody | undefined): void => {
      if (body === undefined) return
      for (const follower of followers) follower.take(step * sandboxStepMs, ...shownBy(body))
    }
    for (const body of sandboxStart(first, 'https://feed.example.com')) take(first, body)
    for (let step = first + 1; step < first + sandboxMs / sandboxStepMs; step += 1) {
      take(step, sandboxChange(step, 'https://feed.example.com'))
    }
  })
})
