/** Every route with every kind of key, for the own and for a foreign tenant. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { feedNames, feeds, scopes } from '@property-events/protocol'
import type { FeedName, Scope } from '@property-events/protocol'
import { dayFromNow } from '../support/holds.ts'
import { call, pageOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { makeWebhook, webhookKey } from '../support/webhooks.ts'

interface Door {
  readonly name: string
  readonly scope: Scope
  /** Opens it as well. */
  readonly orScope?: Scope
  readonly refusedWith: number
  /** 200 if left out. */
  readonly opensWith?: number
  readonly open: (key: string) => Promise<Answer>
}

/** All subsets: what a key may hold. */
function subsetsOf(held: readonly Scope[]): readonly (readonly Scope[])[] {
  return Array.from({ length: 2 ** held.length }, (_, bits) => held.filter((_, index) => (bits >> index) & 1))
}

const isPosting = (scope: Scope): boolean => scope.endsWith(':webhooks')
/** Without those to have events posted, which are tried with those that they need beside them. */
const scopeSets = subsetsOf(scopes.filter((scope) => !isPosting(scope)))
const postingSets = subsetsOf(scopes.filter((scope) => /:(?:read|webhooks)$/.test(scope)))

onEngines('isolation', {}, (service) => {
  const ids = { own: new Map<FeedName, string>(), foreign: new Map<FeedName, string>() }
  /** Of the own events: what a property or contact is read by. */
  const subjects = new Map<FeedName, string>()
  const webhooks = new Map<FeedName, string>()
  const payloadOf = (feed: FeedName) => (feed === 'property' ? property() : contact())

  before(async () => {
    const { tenant, otherTenant } = service()
    const postingKey = await webhookKey(service())
    for (const feed of feedNames) {
      webhooks.set(feed, (await makeWebhook(service(), postingKey, { feed })).id)
      for (const [owner, map] of [
        [tenant, ids.own],
        [otherTenant, ids.foreign],
      ] as const) {
        const { events } = await publish(
          service(),
          { payload: payloadOf(feed) },
          { key: owner.publishKey, feed },
        )
        map.set(feed, events[0]?.id ?? '')
        if (map === ids.own) subjects.set(feed, events[0]?.transactionId ?? '')
      }
    }
  })

  const doors = (feed: FeedName): readonly Door[] => {
    const { eventsPath, publishPath, subjectsPath, readScope, publishScope, eraseScope } = feeds[feed]
    const { webhooksScope } = feeds[feed]
    const ownReads = [
      publishPath,
      `${publishPath}/snapshot`,
      `${publishPath}/reduced`,
      `${publishPath}/digest`,
      `${subjectsPath}/${subjects.get(feed)}`,
      `${subjectsPath}/${subjects.get(feed)}/history`,
      `${subjectsPath}/${subjects.get(feed)}/history?changes=true`,
    ]
    return [
      ...ownReads.map((path) => ({
        name: path,
        scope: readScope,
        ...(feed === 'property' && path === `${subjectsPath}/${subjects.get(feed)}`
          ? { orScope: publishScope }
          : {}),
        refusedWith: 403,
        open: (key: string) => call(service(), path, { key }),
      })),
      {
        name: `wait for ${feed}`,
        scope: readScope,
        refusedWith: 403,
        open: (key) => call(service(), `${publishPath}?after=0&wait=1`, { key }),
      },
      {
        name: `stream ${feed}`,
        scope: readScope,
        refusedWith: 403,
        // A stream has no end to wait for.
        open: (key) => call(service(), `${publishPath}/stream?after=head`, { key, method: 'HEAD' }),
      },
      {
        name: `list ${feed}`,
        scope: readScope,
        refusedWith: 401,
        open: (key) => call(service(), `${eventsPath}/getevents`, { key }),
      },
      {
        name: `list current ${feed}`,
        scope: readScope,
        refusedWith: 401,
        open: (key) => call(service(), `${eventsPath}/getevents?current=true`, { key }),
      },
      {
        name: `get ${feed}`,
        scope: readScope,
        refusedWith: 401,
        open: (key) => call(service(), `${eventsPath}/geteventbyid/${ids.own.get(feed)}`, { key }),
      },
      {
        name: `erase ${feed}`,
        scope: eraseScope,
        refusedWith: 403,
        open: (key) =>
          call(service(), '/v1/erasures?dryRun=true', {
            method: 'POST',
            key,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ feed, subjectId: subjects.get(feed), reason: 'objection' }),
          }),
      },
      {
        name: `hold ${feed}`,
        scope: eraseScope,
        refusedWith: 403,
        // One of nothing: the key is looked at first.
        opensWith: 404,
        open: (key) =>
          call(service(), '/v1/holds', {
            method: 'POST',
            key,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              feed,
              subjectId: crypto.randomUUID(),
              ground: 'complaint',
              until: dayFromNow(1),
            }),
          }),
      },
      {
        name: `a webhook of ${feed}`,
        scope: webhooksScope,
        refusedWith: 404,
        open: async (key) => {
          const answer = await call(service(), `/v1/webhooks/${webhooks.get(feed)}`, { key })
          // Without any such scope it is not looked for.
          return answer.status === 403 ? { ...answer, status: 404 } : answer
        },
      },
      // Of contacts alone, whichever feed's turn it is.
      {
        name: `expiring contacts (${feed})`,
        scope: 'contact:erase',
        refusedWith: 403,
        open: (key) => call(service(), '/v1/expiring-contacts', { key }),
      },
      {
        name: `keep a contact (${feed})`,
        scope: 'contact:erase',
        refusedWith: 403,
        // One of nothing: the key is looked at first.
        opensWith: 404,
        open: (key) =>
          call(service(), `/v1/expiring-contacts/${crypto.randomUUID()}/keep`, { method: 'POST', key }),
      },
      {
        name: `exposure (${feed})`,
        scope: 'contact:erase',
        refusedWith: 403,
        open: (key) => call(service(), `/v1/exposure/${service().tenant.readKey.split('_')[1]}`, { key }),
      },
      {
        name: `publish ${feed}`,
        scope: publishScope,
        refusedWith: 403,
        open: (key) =>
          call(service(), `${publishPath}?dryRun=true`, {
            method: 'POST',
            key,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ payload: payloadOf(feed) }),
          }),
      },
    ]
  }

  it('opens each door to exactly the keys that hold its scope (P10, D7, D11)', async () => {
    let tried = 0
    const sets = [...scopeSets, ...postingSets.filter((set) => set.some(isPosting))]
    for (const held of sets.filter((set) => set.length > 0)) {
      const { text } = await service().issue({
        grants: [{ tenantId: service().tenant.tenantId, scopes: held }],
      })
      for (const door of feedNames.flatMap(doors)) {
        const { status } = await door.open(text)
        assert.equal(
          status,
          [door.scope, door.orScope].some((scope) => scope !== undefined && held.includes(scope))
            ? (door.opensWith ?? 200)
            : door.refusedWith,
          `${door.name} with ${held.join()}`,
        )
        tried += 1
      }
    }
    assert.equal(tried, (63 + 12) * 38)
  })

  it('shows a key nothing of other tenants, whatever its scopes (P10)', async () => {
    const { tenant, otherTenant } = service()
    for (const held of scopeSets.filter((set) => set.some((scope) => scope.endsWith('read')))) {
      const { text: key } = await service().issue({ grants: [{ tenantId: tenant.tenantId, scopes: held }] })
      for (const feed of feedNames) {
        const { eventsPath, readScope } = feeds[feed]
        const foreign = await call(service(), `${eventsPath}/geteventbyid/${ids.foreign.get(feed)}`, { key })
        const listed = await call(service(), `${eventsPath}/getevents?pageSize=1000`, { key })
        for (const answer of [foreign, listed]) {
          const seen = JSON.stringify([answer.headers, answer.text])
          assert.ok(!seen.includes(otherTenant.tenantId))
        }
        if (!held.includes(readScope)) continue
        assert.equal(foreign.status, 404)
        assert.ok(pageOf(listed).items.every(({ tenantId }) => tenantId === tenant.tenantId))
        assert.equal(pageOf(listed).availableCount, 1)
      }
    }
  })

  it("does not let one tenant's validator or counts speak of another's feed (P10, D4)", async () => {
    const { tenant, otherTenant } = service()
    const path = `${feeds.property.eventsPath}/getevents`
    const own = await call(service(), path, { key: tenant.readKey })
    const crossed = await call(service(), path, {
      key: otherTenant.readKey,
      headers: { 'if-none-match': String(own.headers.etag) },
    })
    assert.equal(crossed.status, 200)
    const before = own.headers['x-feed-head']
    await publish(service(), [{ payload: property() }, { payload: property() }], {
      key: otherTenant.publishKey,
    })
    const after = await call(service(), path, {
      key: tenant.readKey,
      headers: { 'if-none-match': String(own.headers.etag) },
    })
    assert.equal(after.status, 304)
    assert.equal(after.headers['x-feed-head'], before)
  })

  it('answers one list, requested alternately with keys of two tenants, with the events of each alone (P10)', async () => {
    const { tenant, otherTenant } = service()
    const path = `${feeds.property.eventsPath}/getevents?page=1&pageSize=7`
    const tags = new Map<string, unknown>()
    for (const [turn, coding] of ['gzip', 'identity', 'gzip', 'identity'].entries()) {
      for (const owner of turn < 2 ? [tenant, otherTenant] : [otherTenant, tenant]) {
        const answer = await call(service(), path, {
          key: owner.readKey,
          headers: { 'accept-encoding': coding },
        })
        const isPacked = answer.headers['content-encoding'] === 'gzip'
        const text = isPacked ? gunzipSync(answer.body).toString() : answer.text
        const { items } = pageOf({ ...answer, text })
        assert.ok(items.length > 0)
        assert.ok(items.every(({ tenantId }) => tenantId === owner.tenantId))
        tags.set(`${owner.tenantId} ${coding}`, answer.headers.etag)
      }
    }
    assert.equal(new Set(tags.values()).size, 4)
  })

  it('keeps ids of tenants apart: the same id may be stored by both, and conflicts with neither (P10, D14)', async () => {
    const { tenant, otherTenant } = service()
    const id = randomUUID()
    for (const owner of [tenant, otherTenant]) {
      const receipt = await publish(service(), { id, payload: property() }, { key: owner.publishKey })
      assert.equal(receipt.repeated, false)
    }
    const path = `${feeds.property.eventsPath}/geteventbyid/${id}`
    const { etag } = (await call(service(), path, { key: tenant.readKey })).headers
    for (const owner of [tenant, otherTenant]) {
      const answer = await call(service(), path, { key: owner.readKey })
      assert.equal((JSON.parse(answer.text) as { tenantId: string }).tenantId, owner.tenantId)
      const asked = await call(service(), path, {
        key: owner.readKey,
        headers: { 'if-none-match': String(etag) },
      })
      assert.equal(asked.status, owner === tenant ? 304 : 200)
    }
  })

  it("does not let a tenant name another's: bodies and queries choose no tenant (P10, D11)", async () => {
    const { tenant, otherTenant } = service()
    const stranger = otherTenant.tenantId
    const list = await call(service(), `${feeds.property.eventsPath}/getevents?tenantId=${stranger}`, {
      key: tenant.readKey,
      headers: { 'x-tenant-id': stranger },
    })
    assert.equal(list.headers['x-ignored-parameters'], 'tenantId')
    assert.ok(pageOf(list).items.every(({ tenantId }) => tenantId === tenant.tenantId))
    const sent = await call(service(), `/v1/property-events?tenantId=${stranger}`, {
      method: 'POST',
      key: tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: property() }),
    })
    assert.equal(sent.status, 400)
  })
})
