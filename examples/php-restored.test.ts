/** The PHP example and a service that was restored: an older state, a new epoch, and numbers that mean other events. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { join } from 'node:path'
import type { FeedEvent } from '../packages/client/src/index.ts'
import { eventOf, eventsOf, ownReadsOver, pagesOver } from '../packages/client/test/support/small-feed.ts'
import { copied, folderFor, serving, withPhp } from './php-runner.ts'

/** As many homes as before, of which the last two were lost and published again in another order, with the ids of before. */
function restored(): readonly FeedEvent[] {
  const [kept, again] = [eventsOf(8), eventOf(9, 'p10')]
  const payload = JSON.stringify({ agent_ref: 'p10', published: true, title: 'Tŷ Gwyn – £1,250 🏡' })
  return [...kept, { ...again, id: 'e10', payload }]
}

describe('the PHP example begins anew when the service was restored, and says why (D13)', () => {
  const state = { epoch: 'a', events: eventsOf(10) as readonly FeedEvent[] }
  const pages = pagesOver(() => state.events)
  const ways: Readonly<Record<string, typeof fetch>> = {
    numbers: ownReadsOver(() => ({ tenantId: 't', ...state })),
    'pages of a service behind a proxy that lets nothing else through': async (input, init) => {
      const answer = await pages(input, init)
      if (answer.ok) answer.headers.set('x-feed-epoch', state.epoch)
      return answer
    },
  }
  for (const [way, feed] of Object.entries(ways)) {
    it(`reading ${way}`, withPhp, async (context) => {
      Object.assign(state, { epoch: 'a', events: eventsOf(10) })
      const folder = folderFor(context)
      const url = await serving(context, feed)
      const first = await copied(folder, url)
      assert.deepEqual([first.code, Object.keys(first.properties).length], [0, 10], first.words)
      assert.doesNotMatch(first.words, /read again/)
      Object.assign(state, { epoch: 'b', events: restored() })
      const next = await copied(folder, url)
      assert.equal(next.code, 0, next.words)
      assert.match(next.words, /^The whole feed is read again: .* as after a restore\.$/m)
      assert.deepEqual(
        Object.keys(next.properties).toSorted(),
        restored()
          .map(({ transactionId }) => transactionId)
          .toSorted(),
      )
      assert.match(readFileSync(join(folder, 'copy.json'), 'utf8'), /T\\u0177 Gwyn/)
      const last = await copied(folder, url)
      assert.doesNotMatch(last.words, /read again/)
    })
  }
})
