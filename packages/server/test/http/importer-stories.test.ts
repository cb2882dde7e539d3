/** Twelve stories of a home, and what a public importer that keeps its site from run to run makes of each. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { call, listPath, pageOf, publish } from '../support/http-client.ts'
import type { Page } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import type { TestProperty } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

type Event = Page['items'][number]

/** A site with the importer's habits: see support/public-importer.ts; it skips a home whose update_date it has, and stops at one without a price. */
function createSite(service: () => TestService, key: () => string) {
  const held = new Map<string, TestProperty>()
  return {
    held,
    async run(): Promise<void> {
      const events: Event[] = []
      for (let page = 1; ; page += 1) {
        const path = `${listPath}?apiEventType=property&page=${page}&pageSize=25`
        const answer = await call(service(), path, { key: key() })
        assert.equal(answer.status, 200, answer.text)
        const { items } = pageOf(answer)
        if (items.length === 0) break
        events.push(...items)
      }
      const newest = new Map<string, Event>()
      const toSecond = ({ createdDate }: Event) => createdDate.slice(0, 19)
      const sorted = events.toSorted((one, other) => toSecond(one).localeCompare(toSecond(other)))
      for (const event of sorted) newest.set(event.transactionId, event)
      for (const { eventType, payload, transactionId } of newest.values()) {
        assert.ok(eventType === 0 || eventType === 1, `the import aborts on event type ${eventType}`)
        if (eventType === 1) {
          held.delete(transactionId)
          continue
        }
        const home = JSON.parse(payload) as TestProperty
        const price = home['price_information'] as { readonly price?: unknown } | undefined
        if (price?.price === undefined) return
        const known = held.get(home.agent_ref)?.['update_date']
        if (known === undefined || known !== home['update_date']) held.set(home.agent_ref, home)
      }
    },
  }
}

describe('a public importer that keeps its site', () => {
  let service: TestService
  const keys = { current: '', whole: '' }
  let day = 0
  /** What the site should have. */
  const live = new Map<string, TestProperty>()
  const sites = {
    current: createSite(
      () => service,
      () => keys.current,
    ),
    whole: createSite(
      () => service,
      () => keys.whole,
    ),
  }

  before(async () => {
    service = await startTestService()
    const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] as const }]
    const reading = (current: boolean) => ({ eventTypes: 'published-0', current, references: true }) as const
    keys.current = (await service.issue({ grants, reading: reading(true) })).text
    keys.whole = (await service.issue({ grants, reading: reading(false) })).text
  })
  after(() => service.stop())

  /** With a transaction of its own, as CRMs send it; `update_date` changes with each version. */
  async function put(home: TestProperty, fields: Readonly<Record<string, unknown>> = {}) {
    day += 1
    const date = `01-02-2026 09:${String(Math.floor(day / 60)).padStart(2, '0')}:${String(day % 60).padStart(2, '0')}`
    const payload = { ...home, update_date: date, ...fields }
    await publish(service, [{ payload, transactionId: randomUUID() }])
    if (payload.published) live.set(home.agent_ref, payload)
    else live.delete(home.agent_ref)
    return payload
  }
  async function remove({ agent_ref: agentRef }: TestProperty) {
    await publish(service, [{ remove: { agentRef, reason: 9 }, transactionId: randomUUID() }])
    live.delete(agentRef)
  }
  const begun = async () => {
    const home = await put(
      property({ branch_id: 'Fell', details: { summary: 'Tŷ Gwyn – £450 🏡 بيت', bedrooms: 3 } }),
    )
    await assertRight()
    return home
  }
  async function assertRight() {
    for (const [name, site] of Object.entries(sites)) {
      await site.run()
      assert.deepEqual(site.held, live, name)
    }
  }

  const stories: Readonly<Record<string, (home: TestProperty) => Promise<unknown>>> = {
    'is published': async () => undefined,
    'changes its words': (home) =>
      put(home, { details: { summary: 'Wedi ei adnewyddu – newydd', bedrooms: 4 } }),
    'changes its price': (home) => put(home, { price_information: { price: 325_000 } }),
    'is removed': remove,
    'is unpublished by its own payload': (home) => put(home, { published: false }),
    'is removed and comes back': async (home) => {
      await remove(home)
      await assertRight()
      await put(home)
    },
    'is let and no longer sold': (home) =>
      put(home, { price_information: { price: 1_200, rent_frequency: 12 } }),
    'moves to another branch': (home) => put(home, { branch_id: 'Dale' }),
    'is erased': async (home) => {
      const answer = await call(service, '/v1/erasures', {
        method: 'POST',
        key: service.tenant.eraseKey,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ feed: 'property', subjectId: home.agent_ref, reason: 'published_in_error' }),
      })
      assert.equal(answer.status, 202, answer.text)
      live.delete(home.agent_ref)
    },
    'is spelled with capitals from now on': async (home) => {
      await put(home)
      await remove({ ...home, agent_ref: home.agent_ref.toUpperCase() })
      live.delete(home.agent_ref)
    },
    'is removed after the feed began anew': async (home) => {
      await service.storage.startEpoch(0, 'cli:test')
      await assertRight()
      await remove(home)
    },
    'changes twice between two runs, and is removed and back within one': async (home) => {
      await put(home, { price_information: { price: 1 } })
      await remove(home)
      await put(home, { price_information: { price: 2 } })
    },
  }
  for (const [story, happens] of Object.entries(stories)) {
    it(`has it right when a home ${story} (D12, D15)`, async () => {
      const home = await begun()
      await happens(home)
      await assertRight()
    })
  }
})
