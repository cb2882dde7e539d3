import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createPublisher } from '../../src/publishing/publish.ts'
import { createScheduler } from '../../src/publishing/scheduler.ts'
import type { AppendOutcome } from '../../src/events/append/append-batch.ts'
import type { EventStore } from '../../src/events/event-log.ts'

/** Steps of 0.4 ms each on a clock of their own, so that three fill a turn. */
function slowSteps(log: string[]) {
  let nowMs = 0
  function* steps(name: string, count: number): Generator<void, string> {
    for (let step = 1; step <= count; step += 1) {
      nowMs += 0.4
      log.push(`${name}${step}`)
      if (step < count) yield
    }
    return name
  }
  return { steps, clock: () => nowMs }
}

/** Notes every look of the event loop at what else there is, as long as something of what was started runs. */
async function besideOthers(log: string[], start: () => readonly unknown[]): Promise<readonly unknown[]> {
  let running = true
  const look = (): void => {
    log.push('|')
    if (running) setImmediate(look)
  }
  setImmediate(look)
  const ended = await Promise.all(start()).finally(() => (running = false))
  return ended
}

describe('work in turns', () => {
  it('gives way to everything else on the event loop after a millisecond', async () => {
    const log: string[] = []
    const { steps, clock } = slowSteps(log)
    const scheduler = createScheduler(clock)
    assert.deepEqual(await besideOthers(log, () => [scheduler.run(steps('a', 8))]), ['a'])
    assert.equal(log.join(' ').replace(/[ |]*$/, ''), 'a1 a2 a3 | a4 a5 a6 | a7 a8')
  })

  it('counts what comes from everybody together, and does it in the order it came in', async () => {
    const log: string[] = []
    const { steps, clock } = slowSteps(log)
    const scheduler = createScheduler(clock)
    const names = ['a', 'b', 'c', 'd']
    const start = () => names.map((name) => scheduler.run(steps(name, 2)))
    assert.deepEqual(await besideOthers(log, start), names)
    assert.equal(log.join(' ').replace(/[ |]*$/, ''), 'a1 a2 b1 | b2 c1 c2 | d1 d2')
  })

  it('gives long runs every second turn, and 5 ms each before the next of them', async () => {
    const log: string[] = []
    const { steps, clock } = slowSteps(log)
    const scheduler = createScheduler(clock)
    // A turn has three steps: 9 turns are more than a run of ten milliseconds may take before it counts as a long one.
    const start = () => [
      scheduler.run(steps('x', 150)),
      scheduler.run(steps('y', 150)),
      scheduler.run(steps('a', 24)),
      scheduler.run(steps('b', 3)),
    ]
    await besideOthers(log, start)
    const order = log.filter((entry) => entry !== '|')
    const endOf = (name: string) => order.indexOf(order.findLast((entry) => entry.startsWith(name)) ?? '')
    // Both ordinary ones are through long before the long ones, though these came first.
    assert.ok(endOf('b') < order.length / 2, order.join(' '))
    assert.ok(endOf('a') < endOf('b'))
    // The long ones go on meanwhile, and in turn with each other.
    const between = order.slice(order.indexOf('a1'), endOf('b'))
    assert.ok(
      between.some((entry) => entry.startsWith('x')) && between.some((entry) => entry.startsWith('y')),
    )
    const shares =
      order
        .slice(endOf('b') + 1)
        .join(' ')
        .match(/x\d+(?: x\d+)*/g) ?? []
    assert.ok(shares.length >= 2, order.join(' '))
    for (const share of shares.slice(1, -1)) assert.ok(share.split(' ').length <= 15, share)
  })

  it('takes turns with as many long runs as have 32 MiB together, then with the first that came and the smallest, and finally with all', async () => {
    const log: string[] = []
    const { steps, clock } = slowSteps(log)
    const scheduler = createScheduler(clock)
    const mebibyte = 2 ** 20
    const sizes = { a: 16, b: 16, c: 16, d: 15, e: 1, f: 1, g: 40, h: 2 }
    const names = Object.keys(sizes)
    const start = () =>
      Object.entries(sizes).map(([name, size]) => scheduler.run(steps(name, 100), size * mebibyte))
    assert.deepEqual(await besideOthers(log, start), names)
    const order = log.filter((entry) => entry !== '|')
    // After the 10 ms of a short run, some 27 steps.
    const longPart = (name: string) => {
      const places = order.flatMap((entry, place) => (entry.startsWith(name) ? [place] : [])).slice(40)
      return { name, from: places[0] ?? 0, to: places.at(-1) ?? 0 }
    }
    const parts = names.map(longPart)
    const begun = parts.toSorted((one, other) => one.from - other.from).map(({ name }) => name)
    assert.deepEqual(begun.slice(0, 2), ['a', 'b'])
    // The first that waits, then the smallest.
    assert.deepEqual(begun.slice(2, 4).toSorted(), ['c', 'e'])
    assert.deepEqual(begun.slice(-2), ['g', 'h'])
    for (const { from } of parts) {
      const underWay = parts.filter((other) => other.from <= from && from <= other.to)
      const bytes = underWay.reduce((sum, { name }) => sum + sizes[name as keyof typeof sizes], 0)
      assert.ok(bytes <= 32 || underWay.length === 1, underWay.map(({ name }) => name).join(' '))
    }
  })

  it('begins at once when nothing was done in this turn, and returns what ends within it', async () => {
    const log: string[] = []
    const { steps, clock } = slowSteps(log)
    const scheduler = createScheduler(clock)
    for (const name of ['a', 'b']) {
      assert.equal(scheduler.run(steps(name, 1)), name)
      assert.equal(log.at(-1), `${name}1`)
      await new Promise(setImmediate)
    }
  })

  it('fails alone', async () => {
    const scheduler = createScheduler(() => 0)
    const broken = {
      next(): never {
        throw new Error('broken')
      },
    }
    const log: string[] = []
    const failing = Promise.resolve(scheduler.run(broken))
    const fine = scheduler.run(slowSteps(log).steps('a', 2))
    await assert.rejects(failing, { message: 'broken' })
    assert.equal(await fine, 'a')
  })
})

const home = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const media = [{ media_type: 1, media_url: 'https://images.example.com/front.jpg' }]
const event = { payload: { agent_ref: home, published: true, price_information: { price: 1 }, media } }

const bodyOf = (count: number): Buffer =>
  Buffer.from(JSON.stringify(Array.from({ length: count }, () => event)))

/** A publisher whose clock jumps a turn with every look at it, over a store that keeps nothing. */
function publisherByEvent() {
  let nowMs = 0
  const appended: number[] = []
  const append = (batches: Parameters<EventStore['append']>[0]): Promise<readonly AppendOutcome[]> => {
    appended.push(...batches.map(({ drafts }) => drafts.length))
    return Promise.resolve(batches.map(() => ({ kind: 'stored', events: [] })))
  }
  const unasked = (): never => assert.fail('nobody asks for this')
  const events = { append, appendsAtOnce: 1, preview: unasked } as const
  const publisher = createPublisher({ events, catalogue: catalogues.default, clock: () => (nowMs += 1) })
  const publish = (count: number, body = bodyOf(count)) =>
    publisher.publish({
      key: { tenantId: home, feed: 'property' },
      body,
      format: 'json',
      dryRun: false,
      unchanged: 'store',
    })
  return { publisher, publish, appended }
}

describe('publishing', () => {
  it('lets others be answered while a large publication is read', async () => {
    const { publish, appended } = publisherByEvent()
    const log: string[] = []
    const outcomes = await besideOthers(log, () => [publish(20)])
    assert.partialDeepStrictEqual(outcomes, [
      { kind: 'receipt', created: false, receipt: { events: [], repeated: true } },
    ])
    assert.deepEqual(appended, [20])
    assert.ok(log.length >= 20, `${log.length} looks at the others`)
  })

  it('releases the memory of a body once it has read all of it, and not before', async () => {
    const { publish, appended } = publisherByEvent()
    // More than are decoded at once.
    const body = bodyOf(1_000)
    assert.ok(body.length > 60_000)
    const published = publish(1_000, body)
    assert.ok(body.length > 0)
    await published
    assert.deepEqual(appended, [1_000])
    assert.equal(body.length, 0)
    const faulty = Buffer.concat([bodyOf(1_000), Buffer.from('!')])
    const { kind } = await publish(1_000, faulty)
    assert.equal(kind, 'invalid')
    assert.equal(faulty.length, 0)
  })

  it('stores publications in the order they came in, however long each takes to read', async () => {
    const { publish, appended } = publisherByEvent()
    await Promise.all([publish(9), publish(1), publish(4)])
    assert.deepEqual(appended, [9, 1, 4])
  })

  it('is drained only when what is still being read has been stored (graceful stop)', async () => {
    const { publisher, publish, appended } = publisherByEvent()
    const published = publish(9)
    await publisher.drained()
    assert.deepEqual(appended, [9])
    await published
  })
})
