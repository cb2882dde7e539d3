/** What a known public client ends with. */
import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { call, listPath, pageOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestProperty } from '../support/property.ts'
import { importProperties, sequence } from '../support/public-importer.ts'
import type { TestService } from '../support/test-service.ts'

async function importAll(service: TestService): Promise<ReadonlyMap<string, unknown>> {
  return (await importProperties(service, service.tenant.readKey)).site
}

onEngines('a known public client', { catalogue: catalogues['published-0'] }, (service) => {
  const live = new Map<string, unknown>()

  before(async () => {
    const random = sequence(7)
    const known: TestProperty[] = []
    for (let batch = 0; batch < 12; batch += 1) {
      const events: unknown[] = []
      for (let index = 0; index < 20; index += 1) {
        const choice = random(10)
        const old = known[random(Math.max(1, known.length))]
        if (old === undefined || choice < 4) {
          const made = property({ price_information: { price: 100_000 + random(1_000) } })
          known.push(made)
          live.set(made.agent_ref, made['price_information'])
          events.push({ payload: made })
        } else if (choice < 8) {
          const changed = {
            ...old,
            published: true,
            price_information: { price: 200_000 + random(1_000), ...(choice === 4 ? { deposit: 100 } : {}) },
          }
          live.set(old.agent_ref, changed.price_information)
          events.push({ payload: changed })
        } else if (choice === 8) {
          live.delete(old.agent_ref)
          events.push({ payload: { ...old, published: false } })
        } else {
          live.delete(old.agent_ref)
          events.push({ remove: { agentRef: old.agent_ref, reason: 9 } })
        }
      }
      await publish(service(), events)
    }
  })

  it('ends with exactly the live properties and their latest prices (spec §1, D3, D12, D15)', async () => {
    const site = await importAll(service())
    assert.ok(live.size > 30)
    assert.deepEqual(new Map(site), live)
  })

  it('sees only the event types 0 and 1 (spec §6.1, D12)', async () => {
    const page = pageOf(await call(service(), `${listPath}?pageSize=1000`, { key: service().tenant.readKey }))
    assert.deepEqual(new Set(page.items.map(({ eventType }) => eventType)), new Set([0, 1]))
  })
})

onEngines('a known public client', { catalogue: catalogues['published-0'] }, (service) => {
  /** As publishers write one UUID: by hand, out of two systems, or in whatever case a library has it today. */
  const spellings = (ref: string): readonly string[] => [
    ref,
    ref.toUpperCase(),
    ref.slice(0, 18) + ref.slice(18).toUpperCase(),
  ]

  it('ends right when references change their spelling from event to event (D15)', async () => {
    const random = sequence(11)
    const spell = (ref: string) => spellings(ref)[random(3)] ?? ref
    const homes = Array.from({ length: 25 }, () => property())
    const live = new Map<string, unknown>()
    for (let batch = 0; batch < 20; batch += 1) {
      const events: unknown[] = []
      for (let index = 0; index < 12; index += 1) {
        const home = homes[random(homes.length)] ?? property()
        const ref = spell(home.agent_ref)
        if (live.has(home.agent_ref) && random(3) === 0) {
          live.delete(home.agent_ref)
          events.push({ remove: { agentRef: ref, reason: 9 } })
        } else {
          const price_information = { price: random(1_000_000), ...(random(4) === 0 ? { deposit: 100 } : {}) }
          const published = random(4) > 0
          if (published) live.set(home.agent_ref, price_information)
          else live.delete(home.agent_ref)
          events.push({ payload: { ...home, agent_ref: ref, published, price_information } })
        }
      }
      await publish(service(), events)
    }
    const site = await importAll(service())
    assert.ok(live.size > 5 && live.size < homes.length, `${live.size} live`)
    const shown = [...site].map(([ref, price]) => [ref.toLowerCase(), price] as const)
    assert.equal(new Map(shown).size, shown.length, 'no property twice')
    assert.deepEqual(new Map(shown), live)
  })
})
