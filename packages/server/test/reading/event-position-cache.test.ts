import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEventPositionCache } from '../../src/reading/event-position-cache.ts'
import { createPageRangeCache } from '../../src/reading/page-range-cache.ts'
import { readEvent } from '../../src/reading/routes/get-event.ts'
import { sealedPages } from '../../src/reading/page-cache/index.ts'
import { draft, feedKey, tenantB, uuid } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { whole } from '../support/range-reads.ts'
import { testRequest } from '../support/test-request.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

describe('positions of requested events', () => {
  it('are remembered, each for its feed, and the latest if there is no room for all', () => {
    const positions = createEventPositionCache()
    const ids = Array.from(
      { length: 200_000 },
      (_, index) => `9b6e2c1f-4d5a-4c3b-8f7e-${index.toString(16).padStart(12, '0')}`,
    )
    const remembered = (some: readonly string[], first: number): number =>
      some.filter((id, index) => positions.get(feedKey(), id) === first + index).length
    for (const [index, id] of ids.entries()) {
      positions.set(feedKey(), id, index + 1)
      if (index + 1 === 20_000) assert.ok(remembered(ids.slice(0, 20_000), 1) > 19_900)
    }
    assert.ok(remembered(ids.slice(-20_000), 180_001) > 19_800)
    const all = remembered(ids, 1)
    assert.ok(all > 100_000 && all <= 131_072, `${all} remembered`)
    positions.set(feedKey(), ids.at(-1) ?? '', 7)
    assert.equal(positions.get(feedKey(), ids.at(-1) ?? ''), 7)
    positions.set(feedKey(), ids.at(-1) ?? '', ids.length)
    assert.equal(positions.get(feedKey(), ids.at(-1) ?? ''), ids.length)
    for (const id of ids.slice(0, 1_000)) {
      assert.equal(positions.get(feedKey(tenantB), id), undefined)
      assert.equal(positions.get(feedKey(undefined, 'contact'), id), undefined)
    }
    positions.set(feedKey(), 'far', 2 ** 32)
    assert.equal(positions.get(feedKey(), 'far'), undefined)
  })

  it('are hints: with a wrong one, an event or its absence is found all the same (P10, P12)', async () => {
    await using storage = await withTenants(await temporaryStore())
    const { events } = storage
    const names = Array.from({ length: 120 }, (_, index) => `e ${index}`)
    await publish(
      storage,
      names.map((name) => draft({ subject: name, id: name })),
    )
    const pages = sealedPages(events, { memoryBytes: 8 * 2 ** 20, folder: undefined, fileBytes: 0 })
    const ranges = createPageRangeCache(events)
    const key = feedKey()
    const located = await ranges.locate({ key, view: 'all' })
    assert.ok(located)
    const page = { page: 1, pageSize: 100, availableCount: 120, totalPages: 2, head: located.head }
    const isSealed = async (): Promise<boolean> => {
      const body = await pages.read({ ...page, range: { ...located.range, count: 100 } }, 'identity')
      whole(body).release()
      const sealed = pages.readSealedEvent(key, located.head, 1)
      sealed?.release()
      return sealed !== undefined
    }
    await until(isSealed, { what: 'a sealed page' })
    const request = testRequest()
    for (const hint of [undefined, 1, 57, 100, 101, 120, 121, 5_000]) {
      const noted: unknown[] = []
      const positions = {
        get: () => hint,
        set: (_key: unknown, id: string, position: number) => void noted.push([id, position]),
      }
      for (const name of ['e 0', 'e 56', 'e 99', 'e 110', 'nowhere']) {
        const answer = await readEvent({ events, pages, positions, ranges }, request, {
          key,
          eventId: uuid(name),
          form: undefined,
          branches: undefined,
        })
        const stored = await events.readEvent(key, uuid(name))
        assert.equal(answer.kind === 'refused', stored === undefined, `${name}, hint ${hint}`)
        if (answer.kind !== 'pieces') continue
        assert.deepEqual(Buffer.concat(answer.body.pieces), Buffer.from(stored?.json ?? ''))
        answer.body.release()
      }
      for (const entry of noted) {
        const [id, position] = entry as [string, number]
        assert.equal(await events.positionOf(key, id), position, 'only what is right is remembered')
      }
    }
    await pages.close()
  })
})
