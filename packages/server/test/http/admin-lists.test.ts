/** Lists for people who look after tenants: properties and a search among them, what is live, and who published last. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import { call, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

interface Property {
  readonly agentRef: string
  readonly live: boolean
  readonly address: string | null
  readonly postcode: string | null
  readonly sequenceNumber: number
}

interface Listed<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
  readonly searched: number
  readonly code: string
}

interface Tenant {
  readonly tenantId: string
  readonly name: string
  readonly lastPublishedAt: string | null
}

onEngines('lists of administration', {}, (service) => {
  let operator = ''
  const homes = Array.from({ length: 12 }, (_, n) =>
    property({
      address: {
        house_name_number: String(n),
        address_2: 'Quay Street',
        ...(n === 4 ? { town: 'Tŷ-croes' } : {}),
        postcode_1: 'NR23',
        postcode_2: `${n}XX`,
      },
      reference: `Ref-${n}`,
    }),
  )
  const own = () => service().tenant.tenantId
  const get = async <Item>(
    path: string,
    key = operator,
  ): Promise<Listed<Item> & { readonly status: number }> => {
    const answer = await call(service(), `/v1/admin${path}`, { key })
    return { status: answer.status, ...(JSON.parse(answer.text) as Listed<Item>) }
  }
  const properties = (query: string) => get<Property>(`/tenants/${own()}/properties${query}`)

  before(async () => {
    operator = (await service().issue({ operator: true, adminScopes: [...adminScopes] })).text
    await publish(
      service(),
      homes.map((payload) => ({ payload })),
    )
    await publish(service(), [
      { remove: { agentRef: homes[3]?.agent_ref } },
      { payload: { ...homes[0], status: 2 } },
    ])
    await publish(service(), [{ payload: contact() }], { feed: 'contact' })
  })

  it('lists properties by their latest events, page by page, removed ones included (PROTOCOL §12.5)', async () => {
    const found: Property[] = []
    for (let after = ''; ;) {
      const { items, next } = await properties(`?limit=5${after}`)
      found.push(...items)
      if (next === null) break
      assert.equal(items.length, 5)
      after = `&after=${next}`
    }
    const order = [0, 3, 11, 10, 9, 8, 7, 6, 5, 4, 2, 1]
    assert.deepEqual(
      found.map(({ agentRef, live }) => [agentRef, live]),
      order.map((n) => [homes[n]?.agent_ref, n !== 3]),
    )
    const [first] = found
    assert.deepEqual([first?.address, first?.postcode], ['0, Quay Street', 'NR23 0XX'])
  })

  it('finds properties by reference, postcode and address, and one by its UUID (PROTOCOL §12.5)', async () => {
    const search = async (text: string) => {
      const { items, next, searched } = await properties(`?search=${encodeURIComponent(text)}`)
      assert.equal(next, null)
      return [
        items.map(({ agentRef }) => homes.findIndex(({ agent_ref: one }) => one === agentRef)),
        searched,
      ]
    }
    assert.deepEqual(await search('nr231 1xx'), [[11], 12])
    assert.deepEqual(await search('ref 7'), [[7], 12])
    assert.deepEqual(await search('ty croes'), [[4], 12])
    assert.deepEqual(await search('TŶ CROES'), [[4], 12])
    assert.deepEqual(await search('3, quay'), [[3], 12])
    assert.deepEqual(await search('nowhere'), [[], 12])
    assert.deepEqual(await search(String(homes[5]?.agent_ref).toUpperCase()), [[5], 1])
    assert.deepEqual(await search(randomUUID()), [[], 0])
    const first = await properties('?search=quay&limit=2')
    assert.deepEqual(first.items.length, 2)
    const rest = await properties(`?search=quay&limit=200&after=${first.next}`)
    assert.deepEqual([rest.items.length, rest.next], [10, null])
  })

  it('refuses searches without a letter or digit, and everything that it does not know (D19)', async () => {
    for (const query of [
      '?search=',
      '?search=%20',
      '?search=..',
      `?search=${'x'.repeat(101)}`,
      '?limit=0',
      '?after=-',
      '?x=1',
    ]) {
      const answer = await properties(query)
      assert.deepEqual([answer.status, answer.code], [400, 'invalid_parameter'], query)
    }
    const foreign = await get(`/tenants/${randomUUID()}/properties`)
    assert.deepEqual([foreign.status, foreign.code], [404, 'tenant_not_found'])
  })

  it('makes one search at a time, and answers all that came together (PROTOCOL §12.5)', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => properties('?search=quay')))
    for (const { status, items } of answers) assert.deepEqual([status, items.length], [200, 12])
  })

  it('gives for each feed its number of live properties and contacts, 0 if nothing was ever published (PROTOCOL §12.5)', async () => {
    const made = await call(service(), '/v1/admin/tenants', {
      key: operator,
      method: 'POST',
      body: JSON.stringify({ name: 'Gwerthu Tai Tŷ-croes – £1 a day' }),
      headers: { 'content-type': 'application/json' },
    })
    const fresh: Tenant = JSON.parse(made.text)
    for (const [tenantId, expected] of [
      [own(), [11, 1]],
      [fresh.tenantId, [0, 0]],
    ] as const) {
      const { items } = await get<{ readonly feed: string; readonly live: number }>(
        `/tenants/${tenantId}/feeds`,
      )
      assert.deepEqual(
        items.map(({ feed, live }) => [feed, live]),
        [
          ['property', expected[0]],
          ['contact', expected[1]],
        ],
      )
    }
  })

  it('lists tenants by their last publication, page by page, with a search and for a key of one (PROTOCOL §12.2)', async () => {
    const path = '/tenants?order=lastPublish'
    const all = await get<Tenant>(path)
    const [first, second] = all.items
    assert.equal(first?.tenantId, own())
    assert.ok(first?.lastPublishedAt !== null && second?.lastPublishedAt === null)
    const found: string[] = []
    for (let after = ''; ;) {
      const { items, next } = await get<Tenant>(`${path}&limit=1${after}`)
      found.push(...items.map(({ tenantId }) => tenantId))
      if (next === null) break
      after = `&after=${next}`
    }
    assert.deepEqual(
      found,
      all.items.map(({ tenantId }) => tenantId),
    )
    const searched = await get<Tenant>(`${path}&search=${service().otherTenant.tenantId}`)
    assert.deepEqual(
      searched.items.map(({ tenantId }) => tenantId),
      [service().otherTenant.tenantId],
    )
    const grants = [{ tenantId: own(), scopes: ['tenant:inspect'] as const }]
    const mine = await get<Tenant>(path, (await service().issue({ grants })).text)
    assert.deepEqual(
      mine.items.map(({ tenantId }) => tenantId),
      [own()],
    )
    for (const query of ['?order=name', '?order=lastPublish&after=5', `?after=1f.${own()}`]) {
      const answer = await get(`/tenants${query}`)
      assert.deepEqual([answer.status, answer.code], [400, 'invalid_parameter'], query)
    }
  })
})
