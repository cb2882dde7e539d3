/** Random schedules of a queue before a store: publications, commits that end when they do, feeds that are locked for a while. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { AppendQueue } from '../../../src/publishing/append-queue/append-queue.ts'
import { within } from '../../support/until.ts'
import { heldStore, locked, refused, sent } from './held-store.ts'
import type { HeldStore } from './held-store.ts'

/** What is checked, so that a wrong one can be put in its place. */
export interface CheckedQueue extends Pick<AppendQueue, 'drained'> {
  submit(...given: Parameters<AppendQueue['submit']>): Promise<unknown>
}

export interface CheckOptions {
  readonly numRuns: number
  /** Left out, the schedules are others each time. */
  readonly seed?: number
  /** Tells the first failure as it is. */
  readonly endOnFailure?: boolean
  /** How long the answers of a schedule may take once nothing is locked and commits end by themselves. */
  readonly answeredWithinMs?: number
}

const feeds = ['a', 'a/contact', 'b', 'c', 'd'] as const

const step = fc.oneof(
  fc.record({
    kind: fc.constant('submit' as const),
    feed: fc.constantFrom(...feeds),
    events: fc.constantFrom(1, 1, 2, 5, 9),
    isRefused: fc.constantFrom(false, false, false, true),
  }),
  fc.record({ kind: fc.constant('end' as const), nth: fc.nat(3) }),
  fc.record({ kind: fc.constant('lock' as const), feed: fc.constantFrom('a', 'b', undefined) }),
  fc.record({ kind: fc.constant('pause' as const) }),
)
const schedules = fc.record({
  lanes: fc.constantFrom(1, 2, 4),
  steps: fc.array(step, { maxLength: 40 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Rejects, with the schedule, unless everybody is answered, each feed in its order and in one commit at a time. */
export async function checkSchedules(
  createQueue: (store: HeldStore) => CheckedQueue,
  { numRuns, seed, endOnFailure = false, answeredWithinMs = 10_000 }: CheckOptions,
): Promise<void> {
  const holds = async ({ lanes, steps }: { lanes: number; steps: readonly Step[] }): Promise<void> => {
    const store = heldStore(lanes)
    const played = await play(steps, store, createQueue(store))
    const { names, bad, answers } = played
    const patience = { what: 'an answer for everybody', timeoutMs: answeredWithinMs }
    const results = await within(played.endAll(), patience)
    assert.deepEqual(store.faults, [])
    assert.equal(results.length, answers)
    for (const [n, { status }] of results.entries()) {
      assert.equal(status, bad.has(names[n] ?? '') ? 'rejected' : 'fulfilled')
    }
    for (const feed of feeds) {
      const ofFeed = (all: readonly string[]) => all.filter((name) => name.startsWith(`${feed}:`))
      assert.deepEqual(
        ofFeed(store.stored),
        ofFeed(names).filter((name) => !bad.has(name)),
      )
    }
  }
  // Of a queue that answers nobody, each smaller schedule takes its time as well.
  const interruptAfterTimeLimit = numRuns > 1_000 ? undefined : 100_000
  await fc.assert(fc.asyncProperty(schedules, holds), {
    numRuns,
    endOnFailure,
    includeErrorInReport: true,
    ...(seed === undefined ? {} : { seed }),
    ...(interruptAfterTimeLimit === undefined ? {} : { interruptAfterTimeLimit }),
  })
}

/** Does what the schedule says. `endAll` unlocks what is locked, lets commits end by themselves, and waits for all answers. */
async function play(steps: readonly Step[], store: HeldStore, queue: CheckedQueue) {
  let lockedFeed: string | undefined
  const bad = new Set<string>()
  store.failing = (batches) => {
    if (batches.some(({ feed }) => feed === lockedFeed)) return locked
    return batches.some(({ name }) => bad.has(name)) ? refused : undefined
  }
  const names: string[] = []
  const answers: Promise<unknown>[] = []
  for (const [n, step] of steps.entries()) {
    if (step.kind === 'submit') {
      const name = `${step.feed}:${n}`
      if (step.isRefused) bad.add(name)
      names.push(name)
      const answer = queue.submit(sent(step.feed, { name, events: step.events }))
      answer.catch(() => undefined)
      answers.push(answer)
    } else if (step.kind === 'end') store.end(undefined, step.nth)
    else if (step.kind === 'lock') lockedFeed = step.feed
    else await new Promise(setImmediate)
  }
  return {
    names,
    bad,
    answers: answers.length,
    async endAll() {
      lockedFeed = undefined
      store.endAll()
      const results = await Promise.allSettled(answers)
      await queue.drained()
      return results
    },
  }
}
