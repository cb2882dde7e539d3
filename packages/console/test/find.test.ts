/** What the find box makes of a text, and what it asks for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  distinctPaths,
  nowhereYet,
  planFind,
  reachText,
  recognise,
  searchEverywhere,
} from '../src/find/look-up.ts'
import type { Reach, Send } from '../src/find/look-up.ts'
import type { Access } from '../src/session/access.ts'
import { failureOf } from '../src/service/failure.ts'

const tenantId = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const uuid = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const operator: Access = { operator: true, scopes: ['admin:inspect'], grants: [] }
const inspector: Access = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['tenant:inspect'] }] }
const reader: Access = { operator: false, scopes: [], grants: [{ tenantId, scopes: ['property:read'] }] }

/** Answers each operation with the same, and notes what was asked. */
function sender(answer: unknown): { readonly send: Send; readonly asked: string[] } {
  const asked: string[] = []
  const send: Send = async (operation) => {
    asked.push(operation.path)
    return { kind: 'answer', value: answer as never, status: 200, head: new Headers() }
  }
  return { send, asked }
}

describe('a text in the find box', () => {
  it('is an id, a number, a key, a postcode or words (D31)', () => {
    assert.deepEqual(recognise('  '), { kind: 'nothing' })
    assert.deepEqual(recognise(`GET /v1/properties/${uuid.toUpperCase()}?x=1`), { kind: 'uuid', uuid })
    assert.deepEqual(recognise('#621,391'), { kind: 'number', number: 621_391 })
    assert.deepEqual(recognise('nr11 6ab'), { kind: 'words', words: 'nr11 6ab', isPostcode: true })
    assert.deepEqual(recognise('12 Mill Lane'), { kind: 'words', words: '12 Mill Lane', isPostcode: false })
    const long = recognise('x'.repeat(1_000_000))
    assert.equal(long.kind === 'words' ? long.words.length : 0, 100)
  })

  it('is recognised as a key by its id, and the secret is never sent (D11)', () => {
    const secret = 'abcdefghijklmnopqrstuvwx123456'
    const term = recognise(`x-api-key: pev_4fgHt8Kq2LmN_${secret}`)
    assert.deepEqual(term, { kind: 'key', keyId: '4fgHt8Kq2LmN' })
    const plan = JSON.stringify(planFind(term, inspector, tenantId))
    assert.ok(plan.includes('key=4fgHt8Kq2LmN') && !plan.includes(secret))
  })

  it('leads an operator from a key to the keys of each agency that it opens (D31)', async () => {
    const term = recognise('pev_4fgHt8Kq2LmN')
    const placesOf = async (grants: readonly { readonly tenantId: string }[]) => {
      const { send, asked } = sender({ keyId: '4fgHt8Kq2LmN', label: 'website', grants })
      const found = await planFind(term, operator, undefined).lookUps[0]?.(send)
      assert.deepEqual(asked, ['/v1/admin/keys/4fgHt8Kq2LmN'])
      return found === undefined || 'kind' in found ? [] : found.map(({ path }) => path)
    }
    assert.deepEqual(await placesOf([{ tenantId }, { tenantId: uuid }]), [
      `/tenants/${tenantId}/keys?key=4fgHt8Kq2LmN`,
      `/tenants/${uuid}/keys?key=4fgHt8Kq2LmN`,
    ])
    assert.deepEqual(await placesOf([]), ['/keys?key=4fgHt8Kq2LmN'])
    assert.match(planFind(term, reader, tenantId).left ?? '', /may not see keys/)
  })

  it('is looked up, if it is an id, among events, properties and agencies, through the API of the session (D31)', async () => {
    const event = { sequenceNumber: 7, eventTypeShortCode: 'PropertyUpdated' }
    const own = sender(event)
    const found = await Promise.all(
      planFind(recognise(uuid), reader, tenantId).lookUps.map((lookUp) => lookUp(own.send)),
    )
    assert.deepEqual(own.asked, [`/v1/properties/${uuid}`, `/api/func/api/v1/events/geteventbyid/${uuid}`])
    assert.deepEqual(
      found.flat().map((one) => ('path' in one ? one.path : '')),
      [`/tenants/${tenantId}/properties/${uuid}`, `/tenants/${tenantId}/feeds/property?number=7`],
    )
    const admin = sender(event)
    await planFind(recognise(uuid), operator, tenantId).lookUps[0]?.(admin.send)
    assert.deepEqual(admin.asked, [`/v1/admin/tenants/${tenantId}/properties/${uuid}`])
  })

  it('finds properties of the chosen agency by words and agencies by name, and says what it cannot find (D31)', async () => {
    const item = { agentRef: uuid, live: true, address: 'Mill Lane', postcode: 'NR11 6AB', reference: null }
    const one = sender({ items: [item], next: null })
    const plan = planFind(recognise('NR11 6AB'), operator, tenantId)
    const found = await plan.lookUps[0]?.(one.send)
    assert.deepEqual(found, [
      { kind: 'Property', name: 'Mill Lane, NR11 6AB', path: `/tenants/${tenantId}/properties/${uuid}` },
    ])
    assert.equal(plan.lookUps.length, 2)
    assert.equal(plan.everywhere, 'NR11 6AB')
    const anywhere = planFind(recognise('mill'), operator, undefined)
    assert.deepEqual([anywhere.everywhere, anywhere.left], ['mill', undefined])
    assert.equal(planFind(recognise('mi'), operator, undefined).everywhere, undefined, 'all have that')
    assert.equal(planFind(recognise(uuid), operator, tenantId).everywhere, uuid)
    assert.equal(planFind(recognise(uuid), inspector, tenantId).everywhere, undefined)
    assert.deepEqual(planFind(recognise('mill'), reader, tenantId).lookUps, [])
    assert.match(planFind(recognise('mill'), reader, tenantId).left ?? '', /may not search/)
  })

  it('finds nothing if nothing matches, and shows a refusal (D31)', async () => {
    const refuse =
      (status: number): Send =>
      async () => {
        const text = JSON.stringify({ detail: 'No.', code: 'x', requestId: 'r' })
        return { kind: 'failure', failure: failureOf(status, text, () => null) }
      }
    const [lookUp] = planFind(recognise(uuid), reader, tenantId).lookUps
    assert.deepEqual(await lookUp?.(refuse(404)), [])
    const refused = await lookUp?.(refuse(503))
    assert.ok(refused !== undefined && 'kind' in refused && refused.status === 503)
  })
})

describe('a search of all agencies', () => {
  const thing = {
    kind: 'property',
    tenantId,
    tenantName: 'Hill & Co',
    feed: 'property',
    agentRef: uuid,
    contactRef: null,
    live: true,
    address: '12 Mill Lane',
    postcode: 'NR11 6AB',
    reference: null,
    sequenceNumber: 7,
    eventTypeShortCode: 'PropertyUpdated',
  }
  const none = { agentRef: null, address: null, postcode: null, live: null }

  /** Answers of 100 agencies each, with these things in the first ones; `next` of the last is null. */
  function service(calls: number, items: readonly (readonly object[])[] = []) {
    const queries: unknown[] = []
    const send: Send = async ({ query }) => {
      const n = queries.push(query)
      const value = {
        items: items[n - 1] ?? [],
        next: n === calls ? null : `${n}.`,
        searched: { tenants: 100, of: calls * 100, properties: 9 },
      }
      return { kind: 'answer', value: value as never, status: 200, head: new Headers() }
    }
    return { send, queries }
  }

  async function look(send: Send, from = nowhereYet): Promise<Reach> {
    let last = from
    assert.equal(await searchEverywhere(send, 'mill', from, (reach) => (last = reach)), undefined)
    return last
  }

  it('makes one call after another, says how far it has got, and continues on request (PROTOCOL §12.12)', async () => {
    const { send, queries } = service(8)
    const first = await look(send)
    assert.deepEqual([queries.length, first.searchedCount], [6, 600])
    assert.equal(reachText(first), '600 of 800 agencies were searched.')
    const last = await look(send, first)
    assert.deepEqual(queries.at(6), { text: 'mill', limit: 10, after: '6.' })
    assert.equal(reachText(last), 'All 800 agencies were searched.')
  })

  it('names each result with its agency, and leads there (D31)', async () => {
    const contact = { ...thing, ...none, kind: 'contact', feed: 'contact', contactRef: uuid }
    const event = { ...thing, ...none, kind: 'event' }
    const { found } = await look(
      service(1, [[thing, { ...thing, live: false, address: null, postcode: null }, contact, event]]).send,
    )
    assert.deepEqual(
      found.map(({ kind, name, path }) => [kind, name, path]),
      [
        ['Property', '12 Mill Lane, NR11 6AB · Hill & Co', `/tenants/${tenantId}/properties/${uuid}`],
        ['Removed property', `${uuid} · Hill & Co`, `/tenants/${tenantId}/properties/${uuid}`],
        ['Contact', `${uuid} · Hill & Co`, `/tenants/${tenantId}/contacts/${uuid}`],
        ['Event', 'Number 7, Updated · Hill & Co', `/tenants/${tenantId}/feeds/property?number=7`],
      ],
    )
    assert.equal(distinctPaths(found).length, 3)
  })

  it('ends when there is enough to choose from, or with a refusal (D31)', async () => {
    const many = Array.from({ length: 10 }, () => thing)
    const { send, queries } = service(3, [many])
    assert.equal((await look(send)).next, '1.')
    assert.equal(queries.length, 1)
    const refuse: Send = async () => ({
      kind: 'failure',
      failure: failureOf(
        503,
        JSON.stringify({ detail: 'No.', code: 'overloaded', requestId: 'r' }),
        () => null,
      ),
    })
    const failure = await searchEverywhere(refuse, 'mill', nowhereYet, () => assert.fail('nothing was found'))
    assert.equal(failure?.status, 503)
  })
})
