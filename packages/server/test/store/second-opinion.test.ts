/** Types and categories once more, by a fold that knows nothing of the planner every engine shares (D12, D23). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { uuid } from './support/drafts.ts'
import { batchOf, request, subjectId } from './support/histories.ts'
import type { EventWords } from './support/histories.ts'
import { list } from './support/read-back.ts'
import { temporaryStore } from '../support/temporary-store.ts'

interface Shown {
  readonly subject: string
  readonly code: string
  readonly category: string
}

interface Known {
  readonly visible: boolean
  readonly category: string
  readonly branch: string | undefined
}

/** What readers should see of requests that are stored one after the other; a removal of nothing refuses its request. */
function expected(requests: readonly (readonly EventWords[])[]): readonly Shown[] {
  const shown: Shown[] = []
  const known = new Map<string, Known>()
  for (const events of requests) {
    const now = new Map(known)
    const news: Shown[] = []
    const refused = events.some((event) => !see(event, now, news))
    if (refused) continue
    shown.push(...news)
    for (const [subject, state] of now) known.set(subject, state)
  }
  return shown
}

function see(event: EventWords, known: Map<string, Known>, news: Shown[]): boolean {
  const { removed } = event
  const subject = subjectId(event)
  const was = known.get(subject)
  if (removed && was === undefined) return false

  let visible = event.published ?? was?.visible ?? true
  if (event.type === 'PropertyPublished') visible = true
  if (event.type === 'PropertyUnpublished' || removed) visible = false
  const category = event.category ?? (removed ? undefined : event.implied) ?? was?.category ?? 'sales'
  const branch = removed ? was?.branch : event.branch

  let wasVisible = was?.visible ?? false
  const otherBranch = was?.branch !== undefined && was.branch !== branch
  if (was !== undefined && wasVisible && (was.category !== category || otherBranch)) {
    news.push({ subject, code: 'PropertyUnpublished', category: was.category })
    wasVisible = false
  }
  let code = event.type
  if (code === undefined && !visible) code = 'PropertyUnpublished'
  code ??= wasVisible ? 'PropertyUpdated' : 'PropertyPublished'
  news.push({ subject, code, category })
  known.set(subject, { visible, category, branch })
  return true
}

describe('a second opinion on types and categories', () => {
  it('agrees on what readers see of random requests (D12, D23, D26)', async () => {
    let runs = 0
    await using store = await temporaryStore()
    await fc.assert(
      fc.asyncProperty(fc.array(request({ plain: true }), { maxLength: 12 }), async (requests) => {
        runs += 1
        const tenantId = uuid(`run ${runs}`)
        await store.tenants.createTenant(
          { tenantId, name: tenantId, createdMs: 0, suspended: false },
          'cli:test',
        )
        const batches = requests.map((words) => batchOf(words, [tenantId, tenantId]))
        await store.events.append(batches)

        const key = { tenantId, feed: 'property' as const }
        const sales = new Set((await list(store, { key, view: 'sales' })).map((event) => event.id))
        const shown = (await list(store, { key })).map((event) => ({
          subject: event.transactionId,
          code: event.eventTypeShortCode,
          category: sales.has(event.id) ? 'sales' : 'lettings',
        }))
        assert.deepEqual(shown, expected(requests.map((words) => words.events)))
      }),
      { numRuns: 500 },
    )
  })
})
