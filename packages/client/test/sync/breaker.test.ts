/** What the breaker counts over days: of which copy, and for how long. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, MassRemovalError, memoryCheckpoint } from '../../src/index.ts'
import { eventOf, eventsOf, ownReadsOver } from '../support/small-feed.ts'

describe('the breaker', () => {
  /** A copy of a service's feed that shows so many, and can be changed; what was copied is in step with it. */
  function growing(count: number) {
    const feed = eventsOf(count)
    const copied = new Set<string>()
    const checkpoint = memoryCheckpoint()
    let nowMs = 0
    const reader = createClient({
      baseUrl: 'http://feed.example',
      key: 'k',
      fetch: ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: feed })),
      now: () => nowMs,
    })
    const run = () =>
      reader.sync({
        checkpoint,
        apply: ({ changes }) => {
          for (const { kind, subjectId } of changes) {
            if (kind === 'remove') copied.delete(subjectId)
            else copied.add(subjectId)
          }
        },
        copy: {
          count: () => copied.size,
          countOf: (ids) => ids.filter((id) => copied.has(id)).length,
          subjects: () => [...copied],
        },
      })
    return { feed, copied, checkpoint, run, wait: (ms: number) => void (nowMs += ms) }
  }

  it('counts with the present size of the copy, not with its size when the first removal of the day happened', async () => {
    const hour = 3_600_000
    const { feed, copied, run, wait } = growing(30)
    await run()
    feed.push(eventOf(31, 'p1', { published: false }))
    await run()
    feed.push(...Array.from({ length: 5_000 }, (_, index) => eventOf(32 + index, `q${index}`)))
    wait(hour)
    await run()
    assert.equal(copied.size, 5_029)
    wait(hour)
    for (let index = 0; index < 20; index += 1) {
      feed.push(eventOf(6_000 + index, `q${index}`, { published: false }))
    }
    await run()
    assert.equal(copied.size, 5_009)
    for (let index = 20; index < 2_000; index += 1) {
      feed.push(eventOf(6_000 + index, `q${index}`, { published: false }))
    }
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof MassRemovalError)
      assert.deepEqual([error.removals, error.held, error.removedBefore], [1_980, 5_009, 20])
      return true
    })
  })

  it('lets no more than a quarter go within any day, wherever the day begins', async () => {
    const { feed, copied, run, wait } = growing(1_000)
    await run()
    const remove = (from: number, to: number) => {
      for (let index = from; index <= to; index += 1) {
        feed.push(eventOf(1_000 + index, `p${index}`, { published: false }))
      }
    }
    remove(1, 1)
    await run()
    wait(86_400_000 - 60_000)
    remove(2, 250)
    await run()
    assert.equal(copied.size, 750)
    wait(120_000)
    remove(251, 437)
    await assert.rejects(run(), MassRemovalError)
    assert.equal(copied.size, 750)
    // A day, and the hour by which what went may count longer.
    wait(86_400_000 + 3_600_000)
    await run()
    assert.equal(copied.size, 563)
  })

  it('counts what went for a whole day, although it counts by the hour', async () => {
    const minute = 60_000
    const { feed, copied, run, wait } = growing(1_000)
    await run()
    const remove = (from: number, to: number) => {
      for (let index = from; index <= to; index += 1) {
        feed.push(eventOf(1_000 + index, `p${index}`, { published: false }))
      }
    }
    remove(1, 1)
    await run()
    wait(59 * minute)
    remove(2, 201)
    await run()
    // 24 hours and a minute after the first, 23 hours and 2 minutes after the 200.
    wait(23 * 60 * minute + 2 * minute)
    remove(202, 261)
    await assert.rejects(run(), MassRemovalError)
    assert.equal(copied.size, 799)
  })

  it('counts small steps that follow each other from the most that the copy held', async () => {
    const { feed, copied, run, wait } = growing(1_000)
    await run()
    const removeNext = (count: number) => {
      for (let index = 0; index < count; index += 1) {
        const number = feed.length + 1
        feed.push(eventOf(number, `p${number - 1_000}`, { published: false }))
      }
    }
    for (const size of [900, 800]) {
      removeNext(100)
      await run()
      assert.equal(copied.size, size)
      wait(60_000)
    }
    // None of the steps is a quarter of what was left.
    removeNext(60)
    await assert.rejects(run(), MassRemovalError)
    assert.equal(copied.size, 800)
  })

  it('lists exactly those that it counts: what the copy holds, and not what went before', async () => {
    const { feed, copied, run, wait } = growing(1_100)
    await run()
    const remove = (...subjects: readonly string[]) => {
      for (const subject of subjects) feed.push(eventOf(feed.length + 1, subject, { published: false }))
    }
    const named = (prefix: string, from: number, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}${from + index}`)
    remove(...named('p', 1, 100))
    await run()
    wait(3_600_000)
    // Some lie between those that the copy never held, some stand alone among them.
    const going = [...named('p', 101, 300), 'p600', 'p700', ...named('p', 1_000, 3)]
    remove(...named('old', 1, 450), ...going.slice(0, 301), ...named('old', 451, 200), ...going.slice(301))
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof MassRemovalError)
      assert.deepEqual(error.subjectIds, going)
      assert.deepEqual([error.removals, error.held, error.removedBefore], [305, 1_000, 100])
      assert.match(error.message, /with these 305, 405 of 1,100 in the copy would be gone within 24 hours/)
      return true
    })
    assert.equal(copied.size, 1_000)
  })

  it('says what would go, of how many, within how long, the limit, that updates have stopped, and what to do', async () => {
    const { feed, run, wait } = growing(100)
    await run()
    const remove = (from: number, to: number) => {
      for (let index = from; index <= to; index += 1) {
        feed.push(eventOf(100 + index, `p${index}`, { published: false }))
      }
    }
    remove(1, 15)
    await run()
    wait(3_600_000)
    remove(16, 26)
    await assert.rejects(run(), {
      message:
        'Stopped: with these 11, 26 of 100 in the copy would be gone within 24 hours (limit 25). ' +
        'Nothing was removed, and updates have stopped until this is settled. To allow it once: ' +
        'allowMassRemoval: true. If it is a mistake, have them published again and run the sync as usual; nothing is lost by waiting.',
    })
  })

  it('is not tripped by turnover: what goes is made up for by what comes, day after day', async () => {
    const { feed, copied, run, wait } = growing(60)
    await run()
    for (let index = 1; index <= 240; index += 1) {
      const number = 60 + index * 2
      feed.push(eventOf(number, `p${index}`, { published: false }), eventOf(number + 1, `p${60 + index}`))
      wait(600_000)
      await run()
    }
    assert.equal(copied.size, 60)
    // A mistake that removes everything is stopped all the same.
    for (let index = 241; index <= 300; index += 1) {
      feed.push(eventOf(600 + index, `p${index}`, { published: false }))
    }
    await assert.rejects(run(), MassRemovalError)
    assert.equal(copied.size, 60)
  })

  it('follows a publisher who gives every home a new reference over a day, and stops where all are replaced at once', async () => {
    const replacing = (ref: number, number: number) => [
      eventOf(number, `p${ref}`, { published: false }),
      eventOf(number + 1, `new${ref}`),
    ]
    const slow = growing(48)
    await slow.run()
    for (let ref = 1; ref <= 48; ref += 1) {
      slow.feed.push(...replacing(ref, 47 + ref * 2))
      slow.wait(1_800_000)
      await slow.run()
    }
    assert.deepEqual(
      [...slow.copied],
      Array.from({ length: 48 }, (_, index) => `new${index + 1}`),
    )
    const fast = growing(48)
    await fast.run()
    for (let ref = 1; ref <= 48; ref += 1) fast.feed.push(...replacing(ref, 47 + ref * 2))
    await assert.rejects(fast.run(), MassRemovalError)
    assert.ok(fast.copied.has('p1') && fast.copied.has('p48'))
  })
})
