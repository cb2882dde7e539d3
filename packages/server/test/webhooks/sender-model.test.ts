/** The sender of an endpoint as a whole, against receivers that refuse, hang, reset and answer late, with crashes between any two steps. */
import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import * as fc from 'fast-check'
import { unreported } from '../../src/runtime/background-task.ts'
import { EndpointSender } from '../../src/webhooks/endpoint-sender.ts'
import { senderTurns } from '../../src/webhooks/sender-turns.ts'
import type { EndpointRecord, ProgressWrite } from '../../src/webhooks/endpoint.ts'
import type { MessageSource } from '../../src/webhooks/message-source.ts'
import type { ReceiverAnswer } from '../../src/webhooks/receiver.ts'
import type { DeliveryMode, ViewEvent, WaitingSubject } from '../../src/webhooks/waiting-rows.ts'
import { isLongRun } from '../support/on-engines.ts'

const window = 64
const minute = 60_000
const day = 86_400_000

/** `late`: the receiver has taken the message, and its answer comes after the sender has stopped waiting. */
type Behaviour = 'ok' | 'refuse' | 'hang' | 'reset' | 'late'

const endpoint: EndpointRecord = {
  endpointId: '01a227ec-c29a-7c64-81db-da32bfb504da',
  tenantId: '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33',
  keyId: 'a',
  rights: {},
  createdMs: 0,
  state: { kind: 'enabled' },
  secrets: [],
  settings: {
    url: 'https://www.example.com/bachau',
    label: 'Gwefan – £ 🏡',
    events: 'feed',
    feed: 'property',
    view: 'all',
    payload: 'full',
    changes: false,
    mode: 'every',
    format: 'event',
    concurrency: 4,
    maxPerSecond: undefined,
    timeoutSeconds: 15,
  },
  progress: {
    settled: 0,
    epoch: 'e',
    failingSinceMs: undefined,
    waiting: 0,
    givenUp: 0,
    acknowledged: undefined,
  },
}

/** A feed, a store, and a receiver with its log. */
class World {
  nowMs = 1_000_000
  behaviours: readonly Behaviour[] = ['ok']
  readonly feed: ViewEvent[] = []
  readonly acknowledged = new Set<number>()
  readonly givenUp = new Set<number>()
  isDisabled = false
  repeats = 0
  crashes = 0
  readonly #mode: DeliveryMode
  #settled = 0
  #failingSinceMs: number | undefined
  readonly #waiting = new Map<string, WaitingSubject>()
  #posts = 0
  #sender: EndpointSender
  #listener = (): void => undefined

  constructor(mode: DeliveryMode) {
    this.#mode = mode
    this.#sender = this.#start()
  }

  publish(subjectId: string): void {
    this.feed.push({ subjectId, sequenceNumber: this.feed.length + 1 })
    this.#listener()
  }

  async pass(ms: number): Promise<void> {
    this.nowMs += ms
    mock.timers.tick(ms)
    await settled()
  }

  /** `cut`: the process dies once the store has it, before it knows; `failed`: the store does not take it. */
  async save(end: 'done' | 'cut' | 'failed'): Promise<void> {
    const taken = this.#sender.unwritten()
    if (taken === undefined || end === 'failed') return
    this.#store(taken.write)
    if (end === 'cut') this.crash()
    else taken.written()
    await settled()
  }

  crash(): void {
    this.#sender.abandon()
    this.crashes += 1
    this.#sender = this.#start()
  }

  get isDone(): boolean {
    return this.#settled === this.feed.length && this.#waiting.size === 0
  }

  #store({ change, disable }: ProgressWrite): void {
    if (disable !== undefined) this.isDisabled = true
    if (change === undefined) return
    this.#settled = change.settled
    this.#failingSinceMs = change.failingSinceMs
    for (const row of change.rows?.waiting ?? []) this.#waiting.set(row.subjectId, row)
    for (const subjectId of change.rows?.removed ?? []) this.#waiting.delete(subjectId)
    for (const { sequenceNumber } of change.rows?.givenUp ?? []) this.givenUp.add(sequenceNumber)
  }

  #start(): EndpointSender {
    const progress = { ...endpoint.progress, settled: this.#settled, failingSinceMs: this.#failingSinceMs }
    const settings = { ...endpoint.settings, mode: this.#mode }
    const waiting = [...this.#waiting.values()]
    const sender = new EndpointSender({
      lease: { leaseNo: this.crashes, writes: 0, endpoint: { ...endpoint, progress, settings }, waiting },
      source: this.#source(),
      receiver: {
        post: (request) => this.#post(request.headers['webhook-id'] ?? ''),
        close: () => undefined,
      },
      secrets: () => ['whsec_AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM='],
      answers: 'all',
      clock: () => this.nowMs,
      report: unreported,
      version: () => Promise.resolve(undefined),
      want: () => undefined,
      turn: senderTurns(),
      onTry: () => undefined,
    })
    sender.renewed(Infinity, true)
    return sender
  }

  #source(): MessageSource {
    return {
      epoch: 'e',
      hasAfter: (number) => this.feed.length > number,
      read: async (after, limit) => {
        const events = this.feed.slice(after, after + limit)
        return { events, through: after + events.length }
      },
      find: async (subjectId, after, through) =>
        this.feed.find(
          (one) => one.subjectId === subjectId && one.sequenceNumber > after && one.sequenceNumber <= through,
        )?.sequenceNumber,
      message: async ({ sequenceNumber }) => {
        return { id: `msg_e_${sequenceNumber}`, contentType: 'application/json', body: Buffer.from('{}') }
      },
      onChange: (listener) => void (this.#listener = listener),
      forget: () => undefined,
      stop: () => undefined,
    }
  }

  async #post(id: string): Promise<ReceiverAnswer> {
    const event = this.feed[Number(id.replace('msg_e_', '')) - 1]
    assert.ok(event !== undefined)
    const behaviour = this.behaviours[(this.#posts += 1) % this.behaviours.length] ?? 'ok'
    if (behaviour === 'reset') return { kind: 'unreachable', detail: 'reset' }
    this.#checkOrder(event)
    if (this.acknowledged.has(event.sequenceNumber)) this.repeats += 1
    if (behaviour === 'ok' || behaviour === 'late') this.acknowledged.add(event.sequenceNumber)
    if (behaviour === 'ok') return answered(204)
    if (behaviour === 'refuse') return answered(500)
    // By the clock of the test, which passes in no time.
    await new Promise((resolve) => setTimeout(resolve, 15_000))
    return { kind: 'unanswered', detail: 'There was no answer within 15 s.' }
  }

  #checkOrder({ subjectId, sequenceNumber }: ViewEvent): void {
    if (this.#mode === 'latest') return
    for (const earlier of this.feed.slice(0, sequenceNumber - 1)) {
      const isOver = this.acknowledged.has(earlier.sequenceNumber) || this.givenUp.has(earlier.sequenceNumber)
      if (earlier.subjectId === subjectId)
        assert.ok(isOver, `${sequenceNumber} came before ${earlier.sequenceNumber}`)
    }
  }
}

function answered(status: number): ReceiverAnswer {
  return { kind: 'answered', status, body: 'Mae’n brysur – £', isPublic: true, retryAfterMs: undefined }
}

/** Promises that wait for nothing but each other. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise(setImmediate)
}

type Step =
  | { readonly kind: 'publish'; readonly subjects: readonly string[] }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'save'; readonly end: 'done' | 'cut' | 'failed' }
  | { readonly kind: 'behave'; readonly as: readonly Behaviour[] }
  | { readonly kind: 'crash' }

const subject = fc.constantFrom('tŷ', 'fflat', 'bwthyn', 'castell')
const behaviour = fc.constantFrom<Behaviour>('ok', 'ok', 'refuse', 'hang', 'reset', 'late')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      subjects: fc.array(subject, { minLength: 1, maxLength: 150 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(10, 1_000, 6_000, 16_000, 6 * minute, 3 * 60 * minute),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('save' as const),
      end: fc.constantFrom('done', 'cut', 'failed'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('behave' as const),
      as: fc.array(behaviour, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
)

async function take(world: World, one: Step): Promise<void> {
  if (one.kind === 'publish') for (const subjectId of one.subjects) world.publish(subjectId)
  else if (one.kind === 'pass') await world.pass(one.ms)
  else if (one.kind === 'save') await world.save(one.end)
  else if (one.kind === 'behave') world.behaviours = one.as
  else world.crash()
  await settled()
}

describe('the sender of an endpoint', () => {
  for (const mode of ['every', 'latest'] as const) {
    it(`loses nothing, keeps the order of each property, and repeats at most a window for each crash: ${mode} (W1, W2, W3)`, async () => {
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
            const world = new World(mode)
            for (const one of steps) await take(world, one)
            world.behaviours = ['ok']
            for (let turn = 0; turn < 400 && !world.isDone && !world.isDisabled; turn += 1) {
              await world.save('done')
              await world.pass(turn % 10 === 9 ? day : 20 * minute)
            }
            if (world.isDisabled) return
            assert.ok(world.isDone, 'everything is settled in the end')
            for (const { subjectId, sequenceNumber } of world.feed) {
              const isOver = world.acknowledged.has(sequenceNumber) || world.givenUp.has(sequenceNumber)
              const isSuperseded =
                mode === 'latest' &&
                world.feed.some((one) => one.subjectId === subjectId && one.sequenceNumber > sequenceNumber)
              assert.ok(isOver || isSuperseded, `${sequenceNumber} is missing`)
            }
            // What a receiver took and did not answer in time is sent again as well.
            const late = steps.some((one) => one.kind === 'behave' && one.as.includes('late'))
            if (!late) assert.ok(world.repeats <= world.crashes * window, `${world.repeats} repeats`)
          }),
          { numRuns: isLongRun ? 500 : 40 },
        )
      } finally {
        mock.timers.reset()
      }
    })
  }

  it('begins no more than a window beyond what is written (W3)', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const world = new World('every')
      for (let n = 0; n < 200; n += 1) world.publish(`tŷ ${n}`)
      for (let turn = 0; turn < 100; turn += 1) await world.pass(10)
      assert.equal(world.acknowledged.size, window)
      await world.save('done')
      for (let turn = 0; turn < 100; turn += 1) await world.pass(10)
      assert.equal(world.acknowledged.size, 2 * window)
    } finally {
      mock.timers.reset()
    }
  })
})
