/** What an operator is told of all tenants at once: what needs somebody, how some are doing, and where something is (PROTOCOL §12.11, §12.12). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { listFaults, recentFaults } from '../../src/consumers/list-faults.ts'
import { newPresence } from '../../src/consumers/silence/silence.ts'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

interface Fault {
  readonly code: string
  readonly tenantId: string | null
  readonly tenantName: string | null
  readonly keyId: string | null
  readonly label: string | null
  readonly consumer: string | null
  readonly feed: string | null
  readonly reason: string | null
  readonly refusals: number | null
  readonly since: string
}

interface Listed<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
  readonly hasMore: boolean
  readonly searched: { readonly tenants: number; readonly of: number; readonly properties: number }
}

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs

onEngines('the overview of all tenants', {}, (service) => {
  let operator = ''
  let portal = { text: '', keyId: '' }
  const agentRef = randomUUID()
  const contactRef = randomUUID()
  const eventId = randomUUID()
  const further = Array.from({ length: 70 }, (_, n) => ({ tenantId: randomUUID(), name: `Agency ${n}` }))

  async function get<Answer>(path: string, key = operator): Promise<Answer & { readonly status: number }> {
    const { status, text } = await call(service(), `/v1/admin${path}`, { key })
    return { ...(JSON.parse(text) as Answer), status }
  }

  before(async () => {
    const { storage, tenant, otherTenant } = service()
    const issue = (...options: Parameters<TestService['issue']>) => service().issue(...options)
    operator = (await issue({ operator: true, adminScopes: ['admin:inspect'] })).text
    for (const one of further) {
      await storage.tenants.createTenant({ ...one, createdMs: Date.now(), suspended: false }, 'service')
    }
    // The last tenant of all: whatever looks for it has to look through the others.
    const last = further.at(-1)?.tenantId ?? ''
    const grant = (
      tenantId: string,
      ...scopes: readonly ('property:read' | 'property:publish' | 'contact:publish')[]
    ) => ({
      grants: [{ tenantId, scopes }],
    })
    const publisher = await issue({ ...grant(last, 'property:publish', 'contact:publish'), label: 'crm' })
    const address = { house_name_number: '4', address_2: 'Elm Row', postcode_1: 'NR1', postcode_2: '4ZZ' }
    await publish(service(), [{ id: eventId, payload: property({ agent_ref: agentRef, address }) }], {
      key: publisher.text,
    })
    await publish(service(), [{ payload: contact({ contact_ref: contactRef }) }], {
      key: publisher.text,
      feed: 'contact',
    })
    await publish(service(), [{ payload: property() }, { payload: property() }])
    portal = await issue({ ...grant(tenant.tenantId, 'property:read'), label: 'portal' })
    assert.equal((await call(service(), `${listPath}?pageSize=1`, { key: portal.text })).status, 200)

    const nowMs = Date.now()
    const refusal = { name: 'default', status: 401, sinceMs: nowMs - 10 * minuteMs, count: 72 }
    await storage.consumers.addRefusals([
      {
        ...refusal,
        keyId: portal.keyId,
        tenantId: tenant.tenantId,
        code: 'key_expired',
        lastMs: nowMs - minuteMs,
      },
      {
        ...refusal,
        keyId: publisher.keyId,
        tenantId: last,
        code: 'missing_scope',
        sinceMs: nowMs - dayMs,
        lastMs: nowMs - 61 * minuteMs,
      },
    ])
    const minute = Math.floor(nowMs / minuteMs)
    const refused = { key: { tenantId: last, feed: 'property' as const }, keyId: publisher.keyId, minute }
    const none = {
      requests: 2,
      stored: 0,
      repeated: 0,
      unchanged: 0,
      numbers: undefined,
      warnings: {},
      warningPlaces: {},
    }
    await storage.publications.add(
      [{ ...refused, ...none, refused: 2 }],
      ['invalid_body', 'body_too_large'].map((code, n) => ({
        ...refused,
        atMs: nowMs + n,
        requestId: 'r',
        code,
        faults: [],
      })),
    )
    const turn = (await storage.silence.takeTurn(nowMs + 2 * minuteMs)) ?? assert.fail('the turn is free')
    const silent = [
      {
        ...newPresence({ kind: 'publisher', tenantId: otherTenant.tenantId, feed: 'property' }),
        silentMs: nowMs - dayMs,
      },
      {
        ...newPresence({ kind: 'consumer', keyId: portal.keyId, name: 'north' }),
        silentMs: nowMs - 2 * dayMs,
      },
    ]
    assert.ok(await storage.silence.put(turn, nowMs + 2 * minuteMs, silent, []))
    const { record } = (await storage.keys.findKey(portal.keyId)) ?? assert.fail()
    const old = { ...record, createdMs: nowMs - 90 * dayMs, expiresMs: nowMs + 3 * dayMs }
    for (const [keyId, label, members] of [
      ['EndingKey001', 'nightly', {}],
      ['UnusedKey001', 'unused', {}],
      ['BriefKey0001', 'for a day', { createdMs: nowMs - dayMs }],
      ['RotatedKey01', 'rotated', {}],
      ['FreshKey0001', 'fresh', { expiresMs: nowMs + 90 * dayMs, replaces: 'RotatedKey01' }],
    ] as const) {
      await storage.keys.insertKey({ ...old, keyId, label, ...members }, 'service')
      if (keyId !== 'UnusedKey001') await storage.keys.recordKeyUses([{ keyId, usedMs: nowMs }])
    }
  })

  it('names each fault with its tenant, the worst kind first, page by page (PROTOCOL §12.11)', async () => {
    const all = await get<Listed<Fault>>('/faults')
    assert.equal(all.status, 200)
    const { tenant, otherTenant } = service()
    assert.deepEqual(
      all.items.map(({ code, tenantId, label, consumer, feed, reason, refusals }) => [
        code,
        tenantId,
        label,
        consumer,
        feed,
        reason,
        refusals,
      ]),
      [
        ['key_refused', tenant.tenantId, 'portal', 'default', null, 'key_expired', 72],
        ['publication_refused', further.at(-1)?.tenantId, 'crm', null, 'property', 'body_too_large', 2],
        ['publisher_silent', otherTenant.tenantId, null, null, 'property', null, null],
        ['consumer_silent', tenant.tenantId, 'portal', 'north', null, null, null],
        ['key_ending', tenant.tenantId, 'nightly', null, null, null, null],
      ],
    )
    assert.ok(all.items.every(({ tenantName }) => tenantName !== null))
    assert.deepEqual([all.next, all.hasMore], [null, false])
    const paged: Fault[] = []
    for (let after = ''; ;) {
      const { items, next } = await get<Listed<Fault>>(`/faults?limit=1${after}`)
      paged.push(...items)
      if (next === null) break
      assert.equal(items.length, 1)
      after = `&after=${encodeURIComponent(next)}`
    }
    assert.deepEqual(paged, all.items)
  })

  it('says how up to 25 tenants are doing in one request (PROTOCOL §12.11)', async () => {
    const { tenant, otherTenant } = service()
    interface Facts {
      readonly tenantId: string
      readonly sequenceNumber: number
      readonly live: number
      readonly published: readonly number[]
      readonly furthest: { readonly label: string; readonly lagEvents: number } | null
      readonly refused: number
    }
    const ids = [further.at(-1)?.tenantId, randomUUID(), tenant.tenantId, otherTenant.tenantId]
    const { items, status } = await get<Listed<Facts>>(`/tenant-facts?tenants=${ids.join(',')}`)
    assert.equal(status, 200)
    assert.deepEqual(
      items.map(({ tenantId }) => tenantId),
      [ids[0], ids[2], ids[3]],
      'one that is not there is left out',
    )
    const [last, own] = items
    assert.deepEqual(
      [last?.sequenceNumber, last?.live, last?.published.length, last?.published.at(-1)],
      [1, 1, 24, 1],
    )
    assert.equal(last?.furthest, null)
    assert.deepEqual([own?.furthest?.label, own?.furthest?.lagEvents], ['portal', 1])
    const latest = await get<Listed<Facts>>('/tenant-facts')
    assert.ok(latest.items.length >= 2 && latest.items.length <= 25)
    const published = latest.items.map(({ sequenceNumber }) => sequenceNumber > 0)
    const firstEmpty = published.indexOf(false)
    assert.ok(!published.includes(true, firstEmpty === -1 ? published.length : firstEmpty), 'latest first')
  })

  it('finds a property, contact or event of any tenant by its id, and says how far it has looked (PROTOCOL §12.12)', async () => {
    const name = further.at(-1)?.name
    interface Found {
      readonly kind: string
      readonly tenantName: string
      readonly agentRef: string | null
      readonly contactRef: string | null
      readonly sequenceNumber: number | null
    }
    /** A step takes half a second at most, in which a busy machine has not looked through all. */
    async function findAll(text: string) {
      const items: Found[] = []
      const looked = { tenants: 0, properties: 0 }
      for (let after = ''; ;) {
        const page = await get<Listed<Found>>(`/find?text=${encodeURIComponent(text)}${after}`)
        items.push(...page.items)
        looked.tenants += page.searched.tenants
        looked.properties += page.searched.properties
        if (page.next === null) return { items, looked, of: page.searched.of }
        after = `&after=${page.next}`
      }
    }
    for (const [id, kind, number] of [
      [agentRef, 'property', 1],
      [contactRef.toUpperCase(), 'contact', null],
      [eventId, 'event', 1],
    ] as const) {
      const { items, looked, of } = await findAll(id)
      assert.deepEqual(
        items.map((one) => [one.kind, one.tenantName, one.sequenceNumber]),
        [[kind, name, number]],
      )
      assert.equal(looked.tenants, of)
    }
    assert.deepEqual((await findAll(randomUUID())).items, [])
    for (const text of ['elm row', 'nr14zz']) {
      const { items, looked } = await findAll(text)
      assert.deepEqual(
        items.map((one) => [one.agentRef, one.tenantName]),
        [[agentRef, name]],
      )
      assert.equal(looked.properties, 3)
    }
  })

  it('continues where it stopped, and finds each thing once (PROTOCOL §12.12)', async () => {
    const { tenantId } = service().tenant
    const found: string[] = []
    let tenants = 0
    for (let after = ''; ;) {
      const page = await get<Listed<{ agentRef: string; tenantId: string }>>(`/find?text=e&limit=1${after}`)
      found.push(...page.items.map((one) => one.agentRef))
      tenants += page.searched.tenants
      if (page.next === null) {
        assert.equal(tenants, page.searched.of)
        break
      }
      after = `&after=${page.next}`
    }
    const own = await get<Listed<{ agentRef: string }>>(`/tenants/${tenantId}/properties?search=e`)
    assert.deepEqual(found.toSorted(), [...own.items.map((one) => one.agentRef), agentRef].toSorted())
  })

  it('takes strict parameters, and is only for operators (D19, PROTOCOL §12)', async () => {
    const { tenant } = service()
    const own = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect'] }] })
    for (const path of ['/faults', `/tenant-facts?tenants=${tenant.tenantId}`, '/find?text=elm']) {
      assert.equal((await get(path, own.text)).status, 403, path)
    }
    for (const path of [
      '/faults?after=1',
      '/faults?limit=0',
      '/faults?kind=x',
      '/tenant-facts?tenants=',
      '/tenant-facts?tenants=1,2',
      `/tenant-facts?tenants=${Array.from({ length: 26 }, () => randomUUID()).join(',')}`,
      '/find',
      '/find?text=%20',
      '/find?text=elm&after=7',
    ]) {
      const answer = await call(service(), `/v1/admin${path}`, { key: operator })
      assert.equal(answer.status, 400, path)
      assert.equal(problemOf(answer).code, 'invalid_parameter', path)
    }
  })

  it('looks for faults once for all who ask within 30 s, and again after a failure (PROTOCOL §12.11)', async () => {
    const { storage } = service()
    let nowMs = Date.now()
    let looks = 0
    let fails = true
    const keys: typeof storage.keys = {
      ...storage.keys,
      keysAfter(query) {
        looks += 1
        return fails ? Promise.reject(new Error('away')) : storage.keys.keysAfter(query)
      },
    }
    const find = recentFaults({ ...storage, keys }, () => nowMs)
    await assert.rejects(find(), /away/)
    fails = false
    const [one, other] = await Promise.all([find(), find()])
    assert.equal(one, other)
    assert.equal(looks, 2)
    nowMs += 30_000
    assert.notEqual(await find(), one)
    const later = await listFaults(storage, nowMs + 2 * 3_600_000)
    assert.ok(
      later.faults.every(({ code }) => code !== 'key_refused'),
      'what was refused long ago is over',
    )
  })
})
