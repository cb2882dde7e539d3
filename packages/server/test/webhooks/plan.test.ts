/** The plan of an endpoint against receivers that refuse, hang and lose connections, with crashes in between, checked from the receiver's log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { EndpointPlan, windowEvents } from '../../src/webhooks/plan.ts'
import type { EndpointProgress, PlanSettings, TryOutcome } from '../../src/webhooks/plan.ts'
import type { ViewEvent } from '../../src/webhooks/waiting-rows.ts'

type Mode = PlanSettings['mode']

const hour = 3_600_000

/** A feed, a store and a receiver, with one plan at a time between them. */
class World {
  readonly feed: ViewEvent[] = []
  readonly acknowledged = new Set<number>()
  readonly givenUp = new Set<number>()
  repeatsAfterCrash = 0
  nowMs = 1_000_000
  #acknowledgedBeforeCrash = new Set<number>()
  #stored: EndpointProgress = { settled: 0, waiting: [], failingSinceMs: undefined }
  #underWay: ViewEvent[] = []
  #answers: (() => void)[] = []
  #plan: EndpointPlan
  readonly #settings: PlanSettings

  constructor(settings: PlanSettings) {
    this.#settings = settings
    this.#plan = new EndpointPlan(this.#stored, settings)
  }

  publish(subjectId: string): void {
    // Numbers of a view have gaps.
    this.feed.push({
      subjectId,
      sequenceNumber: (this.feed.at(-1)?.sequenceNumber ?? 0) + 1 + (this.feed.length % 3),
    })
  }

  read(): void {
    const next = this.feed.filter((event) => event.sequenceNumber > this.#plan.through)
    const events = next.slice(0, this.#plan.room)
    const isAll = events.length === next.length
    if (events.length > 0 || isAll)
      this.#plan.add(
        events,
        isAll ? (this.feed.at(-1)?.sequenceNumber ?? 0) : (events.at(-1)?.sequenceNumber ?? 0),
      )
  }

  /** The moment to wait for, or undefined if something was done. */
  step(): number | undefined {
    const step = this.#plan.next(this.nowMs)
    if (step.kind === 'wait') return step.untilMs
    if (step.kind === 'find') {
      const { subjectId, after, through } = step
      const found = this.feed.find(
        (event) =>
          event.subjectId === subjectId && event.sequenceNumber > after && event.sequenceNumber <= through,
      )
      // The store answers later; a plan that has ended meanwhile hears nothing.
      this.#answers.push(() => this.#plan.found(subjectId, found?.sequenceNumber))
      return undefined
    }
    this.#checkOrder(step.event)
    this.#underWay.push(step.event)
    assert.ok(this.#underWay.length <= this.#settings.concurrency, 'no more at once than was asked for')
    if (this.#acknowledgedBeforeCrash.delete(step.event.sequenceNumber)) this.repeatsAfterCrash += 1
    return undefined
  }

  #checkOrder({ subjectId, sequenceNumber }: ViewEvent): void {
    for (const earlier of this.feed) {
      if (earlier.subjectId !== subjectId || earlier.sequenceNumber >= sequenceNumber) continue
      const { sequenceNumber: number } = earlier
      assert.ok(
        this.#settings.mode === 'latest' || this.acknowledged.has(number) || this.givenUp.has(number),
        `${sequenceNumber} is sent before ${number}`,
      )
    }
    assert.ok(!this.#underWay.some((other) => other.subjectId === subjectId), 'one of a property at a time')
  }

  end(index: number, outcome: TryOutcome): void {
    const [event] = this.#underWay.splice(index % Math.max(1, this.#underWay.length), 1)
    if (event === undefined) return
    if (outcome.kind === 'acknowledged') this.acknowledged.add(event.sequenceNumber)
    this.#plan.end(event, outcome, this.nowMs)
    for (const { sequenceNumber } of this.#plan.unwritten()?.rows?.givenUp ?? [])
      this.givenUp.add(sequenceNumber)
  }

  write(isBeforeMore = false, more: () => void = () => undefined): void {
    const change = this.#plan.unwritten()
    if (change === undefined) return
    // Something may happen while the commit is under way.
    if (isBeforeMore) more()
    const removed = change.rows?.removed ?? []
    const waiting = change.rows?.waiting ?? []
    const kept = this.#stored.waiting.filter(
      ({ subjectId }) => !removed.includes(subjectId) && !waiting.some((one) => one.subjectId === subjectId),
    )
    const { settled, failingSinceMs } = change
    assert.ok(settled >= this.#stored.settled, 'the cursor does not go back')
    this.#stored = { settled, failingSinceMs, waiting: [...kept, ...waiting] }
    this.#plan.written(change)
  }

  answer(): void {
    this.#answers.shift()?.()
  }

  crash(): void {
    this.#answers = []
    this.#underWay = []
    this.repeatsAfterCrash = 0
    this.#acknowledgedBeforeCrash = new Set(this.acknowledged)
    this.#plan = new EndpointPlan(this.#stored, this.#settings)
  }

  /** From now on the receiver accepts everything. */
  drain(): void {
    const last = this.feed.at(-1)?.sequenceNumber ?? 0
    for (let turn = 0; turn < 20_000; turn += 1) {
      this.read()
      const untilMs = this.step()
      this.answer()
      this.end(0, { kind: 'acknowledged' })
      this.write()
      if (untilMs === undefined) continue
      if (untilMs !== Infinity) this.nowMs = Math.max(this.nowMs, untilMs)
      else if (this.#stored.settled >= last && this.#stored.waiting.length === 0) return
    }
    assert.fail(
      `it comes to no end: ${JSON.stringify([this.#stored, this.#underWay, this.feed, this.#plan.through, this.#plan.unwritten(), this.#plan.next(this.nowMs)])}`,
    )
  }

  /** W1. */
  checkAll(): void {
    const last = new Map(this.feed.map((event) => [event.subjectId, event.sequenceNumber]))
    for (const { sequenceNumber, subjectId } of this.feed) {
      const isSuperseded = this.#settings.mode === 'latest' && last.get(subjectId) !== sequenceNumber
      assert.ok(
        isSuperseded || this.acknowledged.has(sequenceNumber) || this.givenUp.has(sequenceNumber),
        `${sequenceNumber} of ${subjectId} is lost`,
      )
    }
    assert.equal(this.#stored.settled, this.feed.at(-1)?.sequenceNumber ?? 0)
  }
}

const outcome: fc.Arbitrary<TryOutcome> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'acknowledged' } as const) },
  { weight: 4, arbitrary: fc.constant({ kind: 'refused' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unreachable' } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('postponed' as const), waitMs: fc.nat(2 * hour) }) },
)
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('publish' as const), subject: fc.nat(4) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'read' } as const) },
  { weight: 12, arbitrary: fc.constant({ do: 'step' } as const) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('end' as const), index: fc.nat(15), outcome }) },
  { weight: 2, arbitrary: fc.constant({ do: 'write' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('writeLate' as const), outcome }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(30 * hour) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'answer' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' } as const) },
)

for (const mode of ['every', 'latest'] as const satisfies Mode[]) {
  describe(`an endpoint that wants ${mode} event`, () => {
    it('gets every one in the order of its property, whatever its receiver does and however often we crash (W1, W2, W3)', () => {
      const settings = fc.record({
        concurrency: fc.integer({ min: 1, max: 16 }),
        maxPerSecond: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
      })
      fc.assert(
        fc.property(settings, fc.array(action, { minLength: 50, maxLength: 600 }), (given, actions) => {
          const world = new World({ ...given, mode })
          for (const one of actions) {
            if (one.do === 'publish') world.publish(`Tŷ ${one.subject} £`)
            else if (one.do === 'read') world.read()
            else if (one.do === 'step') world.step()
            else if (one.do === 'end') world.end(one.index, one.outcome)
            else if (one.do === 'answer') world.answer()
            else if (one.do === 'write') world.write()
            else if (one.do === 'writeLate') world.write(true, () => world.end(0, one.outcome))
            else if (one.do === 'wait') world.nowMs += one.ms
            else world.crash()
            assert.ok(world.repeatsAfterCrash <= windowEvents, 'a crash repeats at most one window')
          }
          world.drain()
          world.checkAll()
        }),
        { numRuns: 300 },
      )
    })

    it('repeats at most one window after a crash, also of properties that waited (W3)', () => {
      const world = new World({ mode, concurrency: 16, maxPerSecond: undefined })
      for (let subject = 0; subject < 200; subject += 1) world.publish(`house ${subject}`)
      // Single refusals between acknowledgements: the endpoint is not failing.
      let count = 0
      for (let turn = 0; turn < 4_000; turn += 1) {
        world.read()
        if (world.step() !== undefined) world.write()
        count += 1
        world.answer()
        world.end(0, { kind: count % 3 === 0 ? 'acknowledged' : 'refused' })
      }
      world.write()
      world.nowMs += 200 * hour
      for (let turn = 0; turn < 1_000; turn += 1) {
        world.step()
        world.answer()
        world.end(0, { kind: 'acknowledged' })
      }
      world.crash()
      world.drain()
      world.checkAll()
      assert.ok(world.repeatsAfterCrash > 0)
      assert.ok(world.repeatsAfterCrash <= windowEvents, `${world.repeatsAfterCrash} repeats`)
    })

    it('counts what is acknowledged while a commit is under way (W3)', () => {
      const world = new World({ mode, concurrency: 16, maxPerSecond: undefined })
      for (let subject = 0; subject < 300; subject += 1) world.publish(`house ${subject}`)
      const sendSome = () => {
        for (let turn = 0; turn < 200; turn += 1) {
          world.read()
          world.step()
          world.end(0, { kind: 'acknowledged' })
        }
      }
      world.read()
      world.step()
      world.end(0, { kind: 'acknowledged' })
      world.write(true, sendSome)
      sendSome()
      world.crash()
      world.drain()
      world.checkAll()
      assert.equal(world.repeatsAfterCrash, windowEvents)
    })

    it('loses no event that comes while an earlier one of its property is tried again (W1)', () => {
      const world = new World({ mode, concurrency: 1, maxPerSecond: undefined })
      world.publish('Tŷ Gwyn')
      world.read()
      world.step()
      world.end(0, { kind: 'refused' })
      world.publish('Tŷ Gwyn')
      world.read()
      world.write()
      world.nowMs += hour
      world.step()
      world.publish('Tŷ Gwyn')
      world.read()
      world.write()
      world.crash()
      world.drain()
      world.checkAll()
    })

    it('finds an event that comes while the one before it is looked for (W1)', () => {
      const world = new World({ mode, concurrency: 1, maxPerSecond: undefined })
      world.publish('Tŷ Gwyn')
      world.read()
      world.step()
      world.end(0, { kind: 'refused' })
      world.write()
      // Another property is settled, and a process that starts now cannot know that nothing waits behind the row.
      world.publish('£450,000 – “Môr”')
      world.read()
      world.step()
      world.end(0, { kind: 'acknowledged' })
      world.write()
      world.crash()
      world.nowMs += hour
      world.step()
      world.end(0, { kind: 'acknowledged' })
      world.step()
      world.publish('Tŷ Gwyn')
      world.read()
      world.answer()
      world.drain()
      world.checkAll()
    })
  })
}
