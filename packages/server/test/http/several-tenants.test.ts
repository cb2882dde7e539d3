/** Keys of several tenants: a request names the one it is for (PROTOCOL §2.7), and is told which feeds have moved (§11.5). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { feedNames, feeds, scopes } from '@property-events/protocol'
import { call, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Call } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

interface Heads {
  readonly heads: readonly {
    readonly tenantId: string
    readonly feed: string
    readonly sequenceNumber: number
  }[]
  readonly next: string
}

const listPath = `${feeds.property.eventsPath}/getevents`

onEngines('a key of several tenants', {}, (service) => {
  const both = async () => {
    const { tenant, otherTenant } = service()
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    return (await service().issue({ grants })).text
  }
  const ask = (path: string, key: string, tenantId?: string, more: Call = {}) =>
    call(service(), path, {
      ...more,
      key,
      headers: { ...(tenantId !== undefined && { 'x-tenant': tenantId }), ...more.headers },
    })
  const heads = async (key: string, since?: string, tenantId?: string): Promise<Heads> => {
    const answer = await ask(`/v1/heads${since === undefined ? '' : `?since=${since}`}`, key, tenantId)
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text)
  }
  const names = ({ heads: shown }: Heads) =>
    shown.map(({ tenantId, feed }) => `${tenantId} ${feed}`).toSorted()

  it('reads and publishes as the tenant that its request names, by header or by query (PROTOCOL §2, P10)', async () => {
    const { tenant, otherTenant } = service()
    const key = await both()
    for (const { tenantId } of [tenant, otherTenant, tenant]) {
      for (const feed of feedNames) {
        const payload = feed === 'property' ? property() : contact()
        const body = JSON.stringify({ payload })
        const headers = { 'content-type': 'application/json' }
        const { publishPath, eventsPath, subjectsPath } = feeds[feed]
        const sent = await ask(publishPath, key, tenantId, { method: 'POST', headers, body })
        const sentByQuery = await ask(
          `${publishPath}?tenant=${tenantId.toUpperCase()}&dryRun=true`,
          key,
          undefined,
          {
            method: 'POST',
            headers,
            body,
          },
        )
        assert.deepEqual([sent.status, sentByQuery.status], [201, 200], sentByQuery.text)
        const listed = await ask(`${eventsPath}/getevents?pageSize=1000`, key, tenantId.toUpperCase())
        assert.equal(listed.headers.vary, 'x-api-key, x-tenant, accept-encoding')
        assert.ok(pageOf(listed).items.length > 0)
        for (const item of pageOf(listed).items) assert.equal(item.tenantId, tenantId)
        const own = pageOf(listed).items.at(-1)
        assert.equal((await ask(`${eventsPath}/geteventbyid/${own?.id}`, key, tenantId)).status, 200)
        for (const path of [
          publishPath,
          `${publishPath}/snapshot`,
          `${subjectsPath}/${own?.transactionId}`,
        ]) {
          const [byHeader, byQuery] = [
            await ask(path, key, tenantId),
            await ask(`${path}?tenant=${tenantId}`, key),
          ]
          assert.deepEqual([byHeader.status, byQuery.status], [200, 200], path)
          assert.equal(byHeader.text, byQuery.text)
          assert.ok(byHeader.text.includes(tenantId))
          assert.ok(
            !byHeader.text.includes(tenantId === tenant.tenantId ? otherTenant.tenantId : tenant.tenantId),
          )
        }
      }
    }
    const foreign = pageOf(await ask(listPath, key, otherTenant.tenantId)).items[0]
    const crossed = await ask(
      `${feeds.property.eventsPath}/geteventbyid/${foreign?.id}`,
      key,
      tenant.tenantId,
    )
    assert.equal(crossed.status, 404)
  })

  it('is refused without a tenant, and for a foreign one as for one that does not exist (P10, D7)', async () => {
    const { tenant, otherTenant } = service()
    const key = await both()
    assert.equal(problemOf(await ask(listPath, key)).code, 'key_scope')
    assert.match(problemOf(await ask(listPath, key)).detail, /x-tenant/)
    assert.equal(problemOf(await ask('/v1/property-events', key)).code, 'ambiguous_tenant')
    assert.equal(problemOf(await ask('/v1/holds', key)).code, 'ambiguous_tenant')
    assert.equal((await ask('/v1/holds', key, tenant.tenantId)).status, 200)
    // The spec's operations know no such parameter (D19).
    const ignored = await ask(`${listPath}?tenant=${otherTenant.tenantId}`, tenant.readKey)
    assert.equal(ignored.headers['x-ignored-parameters'], 'tenant')
    assert.ok(pageOf(ignored).items.every(({ tenantId }) => tenantId === tenant.tenantId))
    for (const [one, own] of [
      [key, tenant.tenantId],
      [tenant.readKey, tenant.tenantId],
    ] as const) {
      assert.equal((await ask(listPath, one, own)).status, 200)
      const unknown = randomUUID()
      const strange = one === key ? [unknown] : [unknown, otherTenant.tenantId]
      for (const path of [listPath, '/v1/property-events', '/v1/heads', `/v1/properties/${randomUUID()}`]) {
        const told = await Promise.all(
          strange.map(async (tenantId) => {
            const answer = await ask(path, one, tenantId)
            const { code, detail, status } = problemOf(answer)
            return { status, code, detail }
          }),
        )
        const [first] = told
        const expected =
          path === listPath ? { status: 401, code: 'key_scope' } : { status: 403, code: 'missing_scope' }
        assert.deepEqual({ status: first?.status, code: first?.code }, expected, path)
        for (const other of told) assert.deepEqual(other, first, path)
      }
    }
  })

  it('learns what is wrong with the tenant that it names (P11, D6)', async () => {
    const { tenant, otherTenant } = service()
    const key = await both()
    const refusals = [
      await ask(listPath, key, 'Hill & Co'),
      await ask(listPath, key, ''),
      await ask(listPath, key, `${tenant.tenantId}, ${otherTenant.tenantId}`),
      await ask('/v1/property-events?tenant=', key),
      await ask('/v1/property-events?tenant=%zz', key),
      await ask(`/v1/property-events?tenant=${tenant.tenantId}&tenant=${tenant.tenantId}`, key),
      await ask(`/v1/property-events?tenant=${otherTenant.tenantId}`, key, tenant.tenantId),
      await ask('/v1/heads?since=yesterday', key),
      await ask('/v1/heads?since=', key),
      await ask('/v1/heads?since=1-2-3&since=1-2-3', key),
    ]
    for (const [index, answer] of refusals.entries()) {
      assert.equal(answer.status, 400, `${index}: ${answer.text}`)
      assert.equal(problemOf(answer).code, 'invalid_parameter')
    }
    assert.equal((await ask(`/v1/heads?tenant=${tenant.tenantId}`, key, tenant.tenantId)).status, 200)
    assert.equal((await call(service(), listPath, { headers: { 'x-tenant': 'x' } })).status, 401)
  })

  it('is shown to each tenant with the refusals it got there, and not with those at another (P10, PROTOCOL §14)', async () => {
    const { tenant, otherTenant } = service()
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    const { text: key, keyId } = await service().issue({ grants })
    const shownTo = async (publishKey: string) => {
      const ref = randomUUID()
      await publish(service(), { payload: property({ agent_ref: ref }) }, { key: publishKey })
      const { status, text } = await call(service(), `/v1/properties/${ref}/consumers`, { key: publishKey })
      assert.equal(status, 200, text)
      const { consumers } = JSON.parse(text) as {
        readonly consumers: readonly { keyId: string; name: string; sentence: string }[]
      }
      return consumers.filter((one) => one.keyId === keyId).map((one) => `${one.name}: ${one.sentence}`)
    }
    const headers = { 'x-feed-consumer': 'gwefan' }
    const refused = await ask(`${listPath}?pageSize=0`, key, otherTenant.tenantId, { headers })
    assert.equal(refused.status, 400, refused.text)
    const [there = '', ...more] = await shownTo(otherTenant.publishKey)
    assert.match(there, /^gwefan: .*one refusal \(invalid_parameter\)\.$/)
    assert.deepEqual(more, [])
    assert.deepEqual(await shownTo(tenant.publishKey), ['default: It has never requested this feed.'])
  })

  it('asks which feeds have moved since, and gets only those (PROTOCOL §11, P8)', async () => {
    const { tenant, otherTenant } = service()
    const key = await both()
    const all = await heads(key)
    assert.deepEqual(
      names(all),
      [tenant, otherTenant]
        .flatMap(({ tenantId }) => feedNames.map((feed) => `${tenantId} ${feed}`))
        .toSorted(),
    )
    let { next } = all
    assert.deepEqual(names(await heads(key, next)), [])
    for (const owner of [tenant, otherTenant]) {
      const receipt = await publish(service(), { payload: property() }, { key: owner.publishKey })
      const moved = await heads(key, next)
      assert.deepEqual(names(moved), [`${owner.tenantId} property`])
      assert.equal(moved.heads[0]?.sequenceNumber, receipt.events[0]?.sequenceNumber)
      // The earlier token still names it.
      assert.deepEqual(names(await heads(key, next)), names(moved))
      next = moved.next
      assert.deepEqual(names(await heads(key, next)), [])
    }
    assert.equal((await heads(key, all.next)).heads.length, 2)
    // With a tenant named, of that one alone; a token of other feeds names all.
    assert.equal((await heads(key, all.next, tenant.tenantId)).heads.length, feedNames.length)
    const ofOne = await heads(key, undefined, tenant.tenantId)
    await publish(service(), { payload: property() }, { key: otherTenant.publishKey })
    assert.deepEqual(names(await heads(key, ofOne.next, tenant.tenantId)), [])
    // Of another store, or of one before a restore: another node's, with a greater sum.
    const [, print, ofReadable, , serial] = next.split('-')
    assert.equal((await heads(key, `zzzzzzzzzzzz-${print}-${ofReadable}-other-${serial}`)).heads.length, 4)
  })

  it('misses no feed that moved, whatever is published meanwhile (PROTOCOL §11, P2)', async () => {
    const { tenant, otherTenant } = service()
    const key = await both()
    let { next } = await heads(key)
    const seen = new Map<string, number>()
    const note = (answer: Heads): void => {
      for (const { tenantId, feed, sequenceNumber } of answer.heads)
        seen.set(`${tenantId} ${feed}`, sequenceNumber)
      ;({ next } = answer)
    }
    const run = { isDone: false }
    const reading = (async () => {
      while (!run.isDone) note(await heads(key, next))
    })()
    const last = new Map<string, number>()
    await Promise.all(
      [tenant, otherTenant].map(async (owner) => {
        for (let n = 0; n < 10; n += 1) {
          const { events } = await publish(service(), { payload: property() }, { key: owner.publishKey })
          last.set(`${owner.tenantId} property`, events.at(-1)?.sequenceNumber ?? 0)
        }
      }),
    )
    run.isDone = true
    await reading
    note(await heads(key, next))
    assert.deepEqual(seen, last)
  })
})
