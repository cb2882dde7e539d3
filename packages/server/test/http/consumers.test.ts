/** Who has seen a property: what consumers say, what they were sent, and why not (PROTOCOL §14). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { branchViewName } from '../../src/index.ts'
import type { KeyReading } from '../../src/index.ts'
import { call, getPath, listPath as list, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { listConsumers } from '../../src/consumers/list-consumers.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface SeenBy {
  readonly keyId: string
  readonly name: string
  readonly state: string
  readonly sentence: string
  readonly acknowledged: number | null
  readonly url: string | null
}

interface Seen {
  readonly agentRef: string
  readonly event: { readonly sequenceNumber: number; readonly category: string }
  readonly feed: { readonly sequenceNumber: number; readonly lastPublishedAt: string }
  readonly consumers: readonly SeenBy[]
}

const json = { 'content-type': 'application/json' }

async function seenOf(service: TestService, agentRef: string, key: string): Promise<Seen> {
  const answer = await call(service, `/v1/properties/${agentRef}/consumers`, { key })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['cache-control'], 'no-store')
  return JSON.parse(answer.text)
}

async function epochOf(service: TestService): Promise<string> {
  const answer = await call(service, list, { key: service.tenant.readKey })
  return String(answer.headers['x-feed-epoch'])
}

function say(service: TestService, key: string, name: string, body: unknown): Promise<Answer> {
  const path = `/v1/property-consumers/${name}/acknowledged`
  return call(service, path, { method: 'PUT', key, headers: json, body: JSON.stringify(body) })
}

function report(service: TestService, key: string, name: string, body: unknown): Promise<Answer> {
  const path = `/v1/property-consumers/${name}/results`
  return call(service, path, { method: 'POST', key, headers: json, body: JSON.stringify(body) })
}

interface Asked {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
}

/** A consumer as it was planted, and what has to be said of it. */
interface Planted {
  readonly label: string
  readonly terms?: {
    readonly expiresMs?: number
    readonly networks?: readonly string[]
    readonly reading?: KeyReading
    readonly tenants?: number
  }
  /** Before the latest version is published, and after it. */
  readonly before?: readonly Asked[]
  readonly after?: readonly Asked[]
  readonly says?: (service: TestService, key: string, keyId: string) => Promise<unknown>
  readonly said: RegExp
}

const agentRef = randomUUID()
const other = randomUUID()

function planted(head: number, epoch: string): readonly Planted[] {
  const result = (more: object) => [{ agentRef, sequenceNumber: head, ...more }]
  const read: Asked = { path: `${list}?pageSize=100` }
  return [
    {
      label: 'shows it',
      after: [read],
      says: (service, key) =>
        report(service, key, 'default', result({ outcome: 'live', url: 'https://example.com/1' })),
      said: /^Live since .*: https:\/\/example\.com\/1\.$/,
    },
    {
      label: 'holds it back',
      after: [read],
      says: (service, key) =>
        report(service, key, 'default', result({ outcome: 'held', message: 'No photograph' })),
      said: /^It holds this version back since .*: No photograph\.$/,
    },
    {
      label: 'refused it',
      says: (service, key) =>
        report(service, key, 'default', result({ outcome: 'refused', code: 'bad_postcode' })),
      said: /^It refused this version at .*: bad_postcode\.$/,
    },
    {
      label: 'has applied it',
      after: [{ path: '/v1/property-events?after=0' }],
      says: (service, key) => say(service, key, 'default', { sequenceNumber: head, epoch }),
      said: /^It reported at .* that it has applied this version\. It has not reported whether the site shows it\.$/,
    },
    {
      label: 'has not applied it',
      after: [{ path: '/v1/property-events?after=0' }],
      says: (service, key) => say(service, key, 'default', { sequenceNumber: 1, epoch }),
      said: /^Sent by the events after a number .* applied everything through 1, which does not include this\./,
    },
    {
      label: 'was sent it by pages',
      after: [read],
      said: /^Sent by the list at .*, within a minute of being published\. It has not reported/,
    },
    {
      label: 'was sent it by a snapshot',
      after: [{ path: '/v1/property-events/snapshot' }],
      said: /^Sent by a snapshot/,
    },
    {
      label: 'was sent it alone',
      after: [{ path: `/v1/properties/${agentRef}` }],
      said: /^Sent by the latest of the property/,
    },
    {
      label: 'was sent its history',
      after: [{ path: `/v1/properties/${agentRef}/history` }],
      said: /^Sent by the history/,
    },
    {
      label: 'was sent it by current events',
      after: [{ path: `${list}?current=true` }],
      said: /^Sent by the list of current events/,
    },
    { label: 'has stopped', before: [read], said: /^Not sent: it has made no request since / },
    {
      label: 'has a stale cache in front',
      // The second request is answered by the cache, which says nothing to anybody.
      before: [read],
      said: /^Not sent: it has made no request since /,
    },
    {
      label: 'shows an earlier version',
      before: [read],
      says: (service, key) =>
        report(service, key, 'default', [{ agentRef, sequenceNumber: 1, outcome: 'live' }]),
      said: /^Not sent: it has made no request since .* It reported "live" of an earlier version \(1\)\.$/,
    },
    {
      label: 'reads page 1 alone',
      after: [{ path: `${list}?pageSize=1` }],
      said: /^Not sent: it made a request at .*, and this event was not in what it requested/,
    },
    {
      label: 'reads another day',
      after: [{ path: `${list}?to=2020-01-01` }],
      said: /^Not sent: it made a request at .*, and this event was not in what/,
    },
    {
      label: 'reads lettings',
      after: [{ path: `${list}?apiEventType=lettingsproperty` }],
      said: /^It reads lettings only; this is sales\.$/,
    },
    { label: 'has never asked', said: /^It has never requested this feed\.$/ },
    {
      label: 'had its key revoked',
      before: [read],
      says: (service, _, keyId) => service.storage.keys.revokeKey(keyId, Date.now(), 'cli:test'),
      said: /^Its key was revoked at .* \(key_revoked\)\.$/,
    },
    {
      label: 'has a key that ended',
      terms: { expiresMs: Date.now() - 3_600_000 },
      after: [{ path: list, status: 401 }],
      said: /^Its key expired (at|on) .*, one refusal \(key_expired\)\.$/,
    },
    {
      label: 'asks from elsewhere',
      terms: { networks: ['203.0.113.0/24'] },
      after: [{ path: list, status: 401 }],
      said: /^Its requests come from a network that its key does not allow since .*, one refusal \(key_network\)\.$/,
    },
    {
      label: 'asks too often',
      before: [{ path: `${list}?pageSize=1` }],
      // A rate is at least one a second, and no test may count on being that fast.
      says: (service, _, keyId) => {
        const [sinceMs, lastMs] = [Date.now(), Date.now()]
        const refusal = { keyId, name: 'default', tenantId: undefined, code: 'rate_limited', status: 429 }
        return service.storage.consumers.addRefusals([{ ...refusal, sinceMs, lastMs, count: 2 }])
      },
      said: /^It makes more requests than its key allows since .*, 2 refusals \(rate_limited\)\.$/,
    },
    {
      label: 'goes on from another epoch',
      before: [read],
      after: [{ path: '/v1/property-events?after=1&epoch=other', status: 409 }],
      said: /^It goes on from an epoch that has ended, .*\(epoch_changed\)\.$/,
    },
    {
      label: 'goes on from another feed',
      after: [{ path: '/v1/property-events?after=999999', status: 409 }],
      said: /^It goes on from a number that this feed never had, .*\(cursor_beyond_head\)\.$/,
    },
    {
      label: 'sends what is not allowed',
      after: [{ path: `${list}?pageSize=0`, status: 400 }],
      said: /^Its requests have a parameter that is not allowed since .*\(invalid_parameter\)\.$/,
    },
    {
      label: 'names no tenant',
      terms: { tenants: 2 },
      after: [{ path: list, status: 401 }],
      said: /^Its requests name a tenant or a feed that its key does not read since .*\(key_scope\)\.$/,
    },
    {
      label: 'has the wrong catalogue',
      terms: { reading: { eventTypes: 'published-0', current: false } },
      after: [{ path: list }],
      // Of an update both say 0; `other`, which was only published, shows the difference.
      said: /^Sent by the list /,
    },
  ]
}

onEngines('who has seen a property', {}, (service) => {
  const askAll = async (key: string, asked: readonly Asked[] = []) => {
    for (const { path, headers = {}, status = 200 } of asked) {
      const answer = await call(service(), path, { key, headers })
      assert.equal(answer.status, status, `${path}: ${answer.text}`)
    }
  }

  it('names each of the causes why a site shows something else (PROTOCOL §14)', async () => {
    const { tenantId, publishKey } = service().tenant
    await publish(service(), [
      { payload: property({ agent_ref: agentRef }) },
      { payload: property({ agent_ref: other }) },
    ])
    const epoch = await epochOf(service())
    const causes = planted(3, epoch)
    assert(causes.length >= 20)
    const keys = await Promise.all(
      causes.map(async ({ terms: { tenants = 1, ...terms } = {} }) => {
        const ids = [tenantId, service().otherTenant.tenantId].slice(0, tenants)
        const grants = ids.map((id) => ({ tenantId: id, scopes: ['property:read'] as const }))
        return service().issue({ grants, ...terms })
      }),
    )
    for (const [index, { before }] of causes.entries()) await askAll(keys[index]?.text ?? '', before)
    const latest = { payload: property({ agent_ref: agentRef, price_information: { price: 289_950 } }) }
    const receipt = await publish(service(), [latest])
    assert.equal(receipt.events[0]?.sequenceNumber, 3)
    for (const [index, { after, says }] of causes.entries()) {
      const { text = '', keyId = '' } = keys[index] ?? {}
      await askAll(text, after)
      await says?.(service(), text, keyId)
    }
    const seen = await seenOf(service(), agentRef, publishKey)
    assert.deepEqual([seen.agentRef, seen.event.sequenceNumber, seen.event.category], [agentRef, 3, 'sales'])
    assert.equal(seen.feed.sequenceNumber, 3)
    for (const [index, { label, said }] of causes.entries()) {
      const own = seen.consumers.filter(({ keyId }) => keyId === keys[index]?.keyId)
      assert.equal(own.length, 1, label)
      assert.match(own[0]?.sentence ?? '', said, label)
    }
    const wrong = keys[causes.findIndex(({ label }) => label === 'has the wrong catalogue')]?.keyId
    const published = (await seenOf(service(), other, publishKey)).consumers.find(
      (one) => one.keyId === wrong,
    )
    assert.match(
      published?.sentence ?? '',
      /Its key reads the numbers of published-0: PropertyPublished is 0\.$/,
    )
    // Contacts are another feed, and publishing reads nothing.
    const { keyId } = await service().issue({
      grants: [{ tenantId, scopes: ['contact:read', 'property:publish'] }],
    })
    assert(!seen.consumers.some((one) => one.keyId === keyId))
  })

  it('is answered while the views of a new set of branches are made, and then names the key that reads others (PROTOCOL §14)', async () => {
    const { tenantId, publishKey } = service().tenant
    const ref = randomUUID()
    await publish(service(), [{ payload: property({ agent_ref: ref, branch_id: 'Here' }) }])
    const grantOf = (branch: string) => ({ tenantId, scopes: ['property:read'] as const, branches: [branch] })
    const here = await service().issue({ grants: [grantOf('Here')] })
    const elsewhere = await service().issue({ grants: [grantOf('Elsewhere')] })
    const stateOf = async ({ keyId }: { keyId: string }) =>
      (await seenOf(service(), ref, publishKey)).consumers.find((one) => one.keyId === keyId)?.state
    // Until they are made nothing is said of branches.
    assert(['never_asked', 'other_branch'].includes((await stateOf(elsewhere)) ?? ''))
    await until(async () => (await stateOf(elsewhere)) === 'other_branch', {
      what: 'the views of the branches',
    })
    assert.equal(await stateOf(here), 'never_asked')

    // What was read of a set that no key reads any more is still kept.
    const gone = {
      view: branchViewName(['Gone'], 'all'),
      space: 'ordinals',
      epoch: await epochOf(service()),
    } as const
    const asked = { askedMs: 1, quietMs: undefined, status: 200, route: 'list' } as const
    const minutes = [{ minute: 1, route: 'list' as const, ranges: [[1, 1]] as const }]
    const consumer = { key: { tenantId, feed: 'property' }, keyId: here.keyId, name: 'default' } as const
    await service().storage.consumers.add([{ ...consumer, ...gone, ...asked, minutes }])
    assert.equal(await stateOf(here), 'pending')
    const { text: key } = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    const listed = await call(service(), `/v1/admin/tenants/${tenantId}/consumers?feed=property`, { key })
    assert.equal(listed.status, 200, listed.text)
  })

  it('shows a key that reads itself alone, and nobody another tenant’s properties (P10)', async () => {
    const { tenantId, readKey } = service().tenant
    const ref = randomUUID()
    await publish(service(), [{ payload: property({ agent_ref: ref }) }])
    const [first, second] = await Promise.all(
      [1, 2].map(() => service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })),
    )
    await call(service(), list, { key: first?.text, headers: { 'x-feed-consumer': 'website' } })
    const own = await seenOf(service(), ref, first?.text ?? '')
    assert.deepEqual(
      own.consumers.map(({ keyId, name, state }) => [keyId, name, state]),
      [[first?.keyId, 'website', 'sent']],
    )
    const others = await seenOf(service(), ref, second?.text ?? '')
    assert.deepEqual(
      others.consumers.map(({ keyId, name, state }) => [keyId, name, state]),
      [[second?.keyId, 'default', 'never_asked']],
    )
    const { publishKey: foreign } = service().otherTenant
    for (const key of [foreign, service().otherTenant.readKey]) {
      const answer = await call(service(), `/v1/properties/${ref}/consumers`, { key })
      assert.deepEqual([answer.status, problemOf(answer).code], [404, 'subject_not_found'])
    }
    const erases = await call(service(), `/v1/properties/${ref}/consumers`, {
      key: service().tenant.eraseKey,
    })
    assert.deepEqual([erases.status, problemOf(erases).code], [403, 'missing_scope'])
    const none = await call(service(), `/v1/properties/${randomUUID()}/consumers`, { key: readKey })
    assert.deepEqual([none.status, problemOf(none).code], [404, 'subject_not_found'])
    const bad = await call(service(), '/v1/properties/nothing/consumers', { key: readKey })
    assert.deepEqual([bad.status, problemOf(bad).code], [400, 'invalid_parameter'])
  })

  it('moves an acknowledgement only forward, and refuses numbers that this feed never had (PROTOCOL §14)', async () => {
    const { tenantId, publishKey } = service().tenant
    const ref = randomUUID()
    const { events } = await publish(service(), [{ payload: property({ agent_ref: ref }) }])
    const head = events[0]?.sequenceNumber ?? 0
    const epoch = await epochOf(service())
    const { text: key, keyId } = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const own = async () => {
      const { consumers } = await seenOf(service(), ref, publishKey)
      return consumers
        .filter((one) => one.keyId === keyId)
        .map(({ name, state, acknowledged }) => [name, state, acknowledged])
    }
    assert.equal((await say(service(), key, 'website', { sequenceNumber: 0, epoch })).status, 204)
    assert.deepEqual(await own(), [['website', 'pending', 0]])
    const done = await say(service(), key, 'website', { sequenceNumber: head, epoch })
    assert.deepEqual([done.status, done.text], [204, ''])
    assert.equal((await say(service(), key, 'website', { sequenceNumber: head - 1, epoch })).status, 204)
    assert.deepEqual(await own(), [['website', 'applied', head]])
    const faults: readonly (readonly [unknown, number, string])[] = [
      [{ sequenceNumber: head + 1, epoch }, 409, 'cursor_beyond_head'],
      [{ sequenceNumber: head, epoch: 'other' }, 409, 'epoch_changed'],
      [{ sequenceNumber: head }, 400, 'invalid_body'],
      [{ sequenceNumber: -1, epoch }, 400, 'invalid_body'],
      [{ sequenceNumber: 1.5, epoch }, 400, 'invalid_body'],
      [{ sequenceNumber: '1', epoch }, 400, 'invalid_body'],
      [{ sequenceNumber: 1, epoch: 'a b' }, 400, 'invalid_body'],
      [{ sequenceNumber: 1, epoch, more: 1 }, 400, 'invalid_body'],
      [[], 400, 'invalid_body'],
    ]
    for (const [body, status, code] of faults) {
      const answer = await say(service(), key, 'website', body)
      assert.deepEqual([answer.status, problemOf(answer).code], [status, code], JSON.stringify(body))
    }
    const badName = await say(service(), key, 'two%20words', { sequenceNumber: 1, epoch })
    assert.deepEqual([badName.status, problemOf(badName).code], [400, 'invalid_parameter'])
    const posted = await call(service(), '/v1/property-consumers/website/acknowledged', {
      method: 'POST',
      key,
    })
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'PUT, OPTIONS'])
    const publisher = await say(service(), publishKey, 'website', { sequenceNumber: 1, epoch })
    assert.deepEqual([publisher.status, problemOf(publisher).code], [403, 'missing_scope'])
    const contacts = await call(service(), '/v1/contact-consumers/website/acknowledged', {
      method: 'PUT',
      key: service().tenant.readKey,
      headers: json,
      body: JSON.stringify({ sequenceNumber: 0, epoch: 'other' }),
    })
    assert.deepEqual([contacts.status, problemOf(contacts).code], [409, 'epoch_changed'])
  })

  it('keeps the last result of each property, and names references that the feed does not have (PROTOCOL §14)', async () => {
    const { tenantId, publishKey } = service().tenant
    const ref = randomUUID()
    const { events } = await publish(
      service(),
      [1, 2].map((price) => ({
        payload: property({ agent_ref: ref, price_information: { price } }),
      })),
    )
    const [first = 0, last = 0] = events.map(({ sequenceNumber }) => sequenceNumber)
    const { text: key, keyId } = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const own = async () => {
      const { consumers } = await seenOf(service(), ref, publishKey)
      return consumers.filter((one) => one.keyId === keyId).map(({ name, state, url }) => [name, state, url])
    }
    const unknown = randomUUID()
    const live = {
      agentRef: ref.toUpperCase(),
      sequenceNumber: last,
      outcome: 'live',
      url: 'https://example.com/a?b=c',
    }
    const stored = await report(service(), key, 'website', [
      live,
      { agentRef: unknown, sequenceNumber: 1, outcome: 'held' },
    ])
    assert.deepEqual([stored.status, JSON.parse(stored.text)], [200, { stored: 1, unknown: [unknown] }])
    await report(service(), key, 'website', [{ agentRef: ref, sequenceNumber: first, outcome: 'refused' }])
    await report(service(), key, 'portal', [{ agentRef: ref, sequenceNumber: first, outcome: 'live' }])
    await report(service(), key, 'portal', [
      { agentRef: ref, sequenceNumber: last, outcome: 'live' },
      {
        agentRef: ref,
        sequenceNumber: last,
        outcome: 'refused',
        code: 'bad',
        message: 'Price <b>too</b> low',
      },
    ])
    assert.deepEqual(await own(), [
      ['portal', 'refused', null],
      ['website', 'live', 'https://example.com/a?b=c'],
    ])
    const one = { agentRef: ref, sequenceNumber: last, outcome: 'live' }
    const faults: readonly unknown[] = [
      {},
      [],
      [1],
      [{ ...one, agentRef: 'x' }],
      [{ ...one, sequenceNumber: 0 }],
      [{ ...one, outcome: 'gone' }],
      [{ ...one, more: 1 }],
      [{ ...one, url: 'javascript:alert(1)' }],
      [{ ...one, url: 'https://user:secret@example.com/' }],
      [{ ...one, url: `https://example.com/${'x'.repeat(2_048)}` }],
      [{ ...one, code: 'two words' }],
      [{ ...one, message: '' }],
      [{ ...one, message: 'x'.repeat(501) }],
      [{ ...one, message: 'line\nbreak' }],
      Array.from({ length: 1_001 }, () => one),
    ]
    for (const body of faults) {
      const answer = await report(service(), key, 'website', body)
      assert.deepEqual(
        [answer.status, problemOf(answer).code],
        [400, 'invalid_body'],
        JSON.stringify(body).slice(0, 200),
      )
    }
    const beyond = await report(service(), key, 'website', [{ ...one, sequenceNumber: last + 1_000 }])
    assert.deepEqual([beyond.status, problemOf(beyond).code], [409, 'cursor_beyond_head'])
    // Of another tenant, and of a reference that it does not have, is told the same.
    const foreign = await report(service(), service().otherTenant.readKey, 'website', [
      { ...one, sequenceNumber: 1 },
    ])
    assert(
      foreign.status === 409 || foreign.text === JSON.stringify({ stored: 0, unknown: [ref] }),
      foreign.text,
    )
    assert.deepEqual(await own(), [
      ['portal', 'refused', null],
      ['website', 'live', 'https://example.com/a?b=c'],
    ])
  })

  it('lists consumers with what they lack, for operators and for keys that inspect their tenant (PROTOCOL §14)', async () => {
    const { tenantId } = service().otherTenant
    const publishKey = service().otherTenant.publishKey
    const target = { port: service().port, tenant: service().otherTenant }
    const events = Array.from({ length: 6 }, (_, n) => ({
      payload: property(),
      category: n < 4 ? 'sales' : 'lettings',
    }))
    await publish(target, events, { key: publishKey })
    const { text: key, keyId } = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const read = (path: string, name: string) =>
      call(service(), path, { key, headers: { 'x-feed-consumer': name } })
    await read(`${list}?pageSize=2`, 'begun')
    await read(`${list}?pageSize=4`, 'mixed')
    await read('/v1/property-events?after=4', 'mixed')
    await read('/v1/property-events/snapshot?apiEventType=lettingsproperty', 'lettings')
    // Nothing was sent, and nothing refused.
    await read(`${getPath}/${randomUUID()}`, 'lost')
    const operator = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    const inspects = await service().issue({ grants: [{ tenantId, scopes: ['tenant:inspect'] }] })
    interface Listed {
      readonly items: readonly {
        readonly keyId: string
        readonly name: string
        readonly lastStatus: number | null
        readonly stoppedAfter: number | null
        readonly refused: { readonly code: string } | null
        readonly views: readonly {
          readonly view: string
          readonly through: number
          readonly lagEvents: number
        }[]
      }[]
    }
    for (const asking of [operator.text, inspects.text]) {
      const answer = await call(service(), `/v1/admin/tenants/${tenantId}/consumers`, { key: asking })
      assert.equal(answer.status, 200, answer.text)
      const { items }: Listed = JSON.parse(answer.text)
      const own = items.filter((one) => one.keyId === keyId)
      assert.deepEqual(
        own.map(({ name, lastStatus, stoppedAfter, refused, views }) => {
          // Each has asked just now, and may still ask for more.
          assert.equal(stoppedAfter, null)
          return [
            name,
            lastStatus,
            refused?.code ?? null,
            ...views.map(({ view, through, lagEvents }) => `${view} ${through} ${lagEvents}`),
          ]
        }),
        [
          ['begun', 200, null, 'all 2 4'],
          ['lettings', 200, null, 'lettings 6 0'],
          ['mixed', 200, null, 'all 6 0'],
        ],
      )
    }
    // Two minutes later, one of them has not asked for the next page.
    const ofFeed = { key: { tenantId, feed: 'property' }, keyId, branches: undefined } as const
    const asked = { ...ofFeed, nowMs: Date.now() + 120_000 }
    const later = await listConsumers(service().storage, asked)
    assert.deepEqual(
      later?.map(({ consumer, stoppedAfter }) => [consumer.name, stoppedAfter]),
      [
        ['begun', 2],
        ['lettings', undefined],
        ['mixed', undefined],
      ],
    )
    const refused = await call(service(), `/v1/admin/tenants/${tenantId}/consumers`, {
      key: service().tenant.readKey,
    })
    assert.equal(refused.status, 403)
    const bad = await call(service(), `/v1/admin/tenants/${tenantId}/consumers?feed=x`, {
      key: operator.text,
    })
    assert.equal(bad.status, 400)
    const contacts = await call(service(), `/v1/admin/tenants/${tenantId}/consumers?feed=contact`, {
      key: operator.text,
    })
    assert.equal(contacts.status, 200)
  })

  it('answers an operator about a property as its publisher (PROTOCOL §14)', async () => {
    const { tenantId, publishKey } = service().tenant
    const ref = randomUUID()
    await publish(service(), [{ payload: property({ agent_ref: ref }) }])
    const operator = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    const path = `/v1/admin/tenants/${tenantId}/properties/${ref}/delivery`
    const answer = await call(service(), path, { key: operator.text })
    assert.equal(answer.status, 200, answer.text)
    const mine: Seen = JSON.parse(answer.text)
    const theirs = await seenOf(service(), ref, publishKey)
    const states = ({ consumers }: Seen) => consumers.map(({ keyId, name, state }) => [keyId, name, state])
    assert.deepEqual(states(mine), states(theirs))
    const foreign = await call(service(), path, { key: service().otherTenant.readKey })
    assert.equal(foreign.status, 403)
    const none = await call(service(), `/v1/admin/tenants/${tenantId}/properties/${randomUUID()}/delivery`, {
      key: operator.text,
    })
    assert.deepEqual([none.status, problemOf(none).code], [404, 'subject_not_found'])
  })

  it('answers of a tenant that has left for another store, or is being deleted, as the property itself does (PROTOCOL §14)', async () => {
    const [tenantId, actor] = [randomUUID(), 'cli:test'] as const
    const { tenants, moves } = service().storage
    await tenants.createTenant({ tenantId, name: 'Môr £ – 🏡', createdMs: 1, suspended: false }, actor)
    const issue = async (scope: 'property:publish' | 'property:read' | 'tenant:inspect') =>
      (await service().issue({ grants: [{ tenantId, scopes: [scope] }] })).text
    const [publishKey, readKey, inspectKey] = [
      await issue('property:publish'),
      await issue('property:read'),
      await issue('tenant:inspect'),
    ]
    const payload = property()
    await publish(service(), { payload }, { key: publishKey })
    const path = `/v1/properties/${payload.agent_ref}`
    assert.equal((await call(service(), list, { key: readKey })).status, 200)
    await moves.change(tenantId, 'open', 'left', actor)
    const listed = await call(service(), `/v1/admin/tenants/${tenantId}/consumers`, { key: inspectKey })
    assert.equal(listed.status, 200, listed.text)
    for (const key of [publishKey, readKey]) {
      assert.equal((await call(service(), path, { key })).status, 200)
      await seenOf(service(), payload.agent_ref, key)
    }
    const request = { deletionId: randomUUID(), tenantId, export: 'caller' } as const
    await tenants.changeTenant(tenantId, { suspended: true }, actor)
    assert.equal((await service().storage.deletions.begin(request, actor)).kind, 'begun')
    // Until the node has heard of it, the key is the one that it knows.
    await until(async () => {
      const { status, text } = await call(service(), `${path}/consumers`, { key: readKey })
      assert.ok(status === 200 || /"key_disabled"/.test(text), text)
      return status === 401
    })
    assert.equal((await call(service(), path, { key: readKey })).status, 401)
  })

  it('measures by consumer how long each version took from publishing to live, once, and names no tenant (PROTOCOL §14)', async () => {
    const { tenantId } = service().tenant
    const site = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    const first = randomUUID()
    const second = randomUUID()
    const { events } = await publish(
      service(),
      [first, second].map((agent_ref) => ({ payload: property({ agent_ref }) })),
    )
    const resultOf = (index: number, outcome: string) => {
      return { agentRef: [first, second][index], sequenceNumber: events[index]?.sequenceNumber, outcome }
    }
    const counted = async () => {
      const text = await (await fetch(service().service.metricsUrl ?? '')).text()
      const lines = text
        .split('\n')
        .filter((line) => line.startsWith('property_events_publish_to_live_seconds'))
      assert.ok(lines.length > 0 && !lines.some((line) => line.includes(tenantId)))
      const ofSite = /_(count|sum)\{consumer="([^"]*)"\} (\S+)$/
      const own = lines.flatMap((line) => {
        const [, part, consumer = '', value] = ofSite.exec(line) ?? []
        return consumer.startsWith(site.keyId) ? [[part, consumer, Number(value)] as const] : []
      })
      for (const [part, , value] of own)
        assert.ok(part === 'count' || (value >= 0 && value < 300), String(value))
      return Object.fromEntries(
        own.flatMap(([part, consumer, value]) => (part === 'count' ? [[consumer, value]] : [])),
      )
    }
    const say = async (name: string, ...results: readonly object[]) => {
      const answer = await report(service(), site.text, name, results)
      assert.equal(answer.status, 200, answer.text)
    }
    await say('default', resultOf(0, 'live'), resultOf(1, 'held'))
    await say('portal', resultOf(0, 'live'))
    assert.deepEqual(await counted(), { [site.keyId]: 1, [`${site.keyId}/portal`]: 1 })
    await say('default', resultOf(0, 'live'), resultOf(1, 'live'))
    assert.deepEqual(await counted(), { [site.keyId]: 2, [`${site.keyId}/portal`]: 1 })
  })

  it('keeps the results of 200 names, and refuses those of another one (PROTOCOL §14)', async () => {
    const { tenantId, readKey } = service().otherTenant
    const agentRef = randomUUID()
    const { events } = await publish(service(), [{ payload: property({ agent_ref: agentRef }) }], {
      key: service().otherTenant.publishKey,
    })
    const [event] = events
    await service().storage.consumers.acknowledge(
      Array.from({ length: 200 }, (_, index) => {
        const key = { tenantId, feed: 'property' } as const
        const place = { sequenceNumber: 0, epoch: 'none', acknowledgedMs: 1 }
        return { key, keyId: 'another', name: `site-${index}`, ...place }
      }),
    )
    const results = [{ agentRef, sequenceNumber: event?.sequenceNumber, outcome: 'live' }]
    const refused = await report(service(), readKey, 'one-more', results)
    assert.equal(refused.status, 400, refused.text)
    assert.match(problemOf(refused).detail, /The feed has 200 consumer names/)
    assert.equal((await report(service(), readKey, 'default', results)).status, 200)
    assert.deepEqual(
      (await seenOf(service(), agentRef, readKey)).consumers.map(({ name, state }) => [name, state]),
      [['default', 'live']],
    )
  })
})
