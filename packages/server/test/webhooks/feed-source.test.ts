/** What an endpoint keeps of its feed between reading and sending. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLiveTail } from '../../src/live/tail.ts'
import { unreported } from '../../src/runtime/background-task.ts'
import { feedSource } from '../../src/webhooks/feed-source.ts'
import { windowEvents } from '../../src/webhooks/plan.ts'
import { draft } from '../store/support/drafts.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { newEndpoint } from '../store/support/webhooks.ts'
import { temporaryStore } from '../support/temporary-store.ts'
import { until } from '../support/until.ts'

it('an endpoint keeps no more than a window of events that it never sends, as of properties that wait (W6)', async () => {
  await using store = await withTenants(await temporaryStore())
  const count = 5 * windowEvents
  const text = 'Tŷ ar lan y môr – £ 🏡'
  await publish(
    store,
    Array.from({ length: count }, (_, n) => draft({ subject: `p${n}`, text, category: 'sales' })),
  )
  const tail = createLiveTail({ events: store.events, report: unreported })
  const sizes: number[] = []
  let heldNow = 0
  const held = {
    take(bytes: number): boolean {
      sizes.push(bytes)
      heldNow += 1
      return true
    },
    free: () => void (heldNow -= 1),
  }
  const nothing = { note: () => undefined }
  const given = newEndpoint({ rights: {} })
  const progress = {
    settled: 0,
    epoch: 'e',
    failingSinceMs: undefined,
    waiting: 0,
    givenUp: 0,
    acknowledged: undefined,
  }
  const endpoint = { ...given, state: { kind: 'enabled' }, secrets: [], progress } as const
  const parts = {
    events: store.events,
    tail,
    formOf: () => undefined,
    ledger: nothing,
    readCounts: nothing,
    held,
  }
  const source = feedSource(parts, endpoint, undefined)
  await until(() => source.epoch !== undefined)
  for (let after = 0; source.hasAfter(after);) after = (await source.read(after, windowEvents)).through
  assert.equal(sizes.length, count)
  assert.equal(heldNow, windowEvents)
  source.stop()
  assert.equal(heldNow, 0)
  tail.close()
})
