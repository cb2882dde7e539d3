/** Keys of branches at every door: what is of another branch is as unknown to them as what is not there at all (P10, D11). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { feeds } from '@property-events/protocol'
import { branchKey } from '../support/branch-key.ts'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'

interface Place {
  readonly eventId: string
  readonly subjectId: string
}

const { publishPath } = feeds.property
/** Stands in a payload of the other branch. */
const canary = 'Lantern Cottage of the other branch'
const json = { 'content-type': 'application/json' }

onEngines('isolation of branches', {}, (service) => {
  const places: Record<'own' | 'foreign' | 'unknown', Place> = {
    own: { eventId: '', subjectId: '' },
    foreign: { eventId: '', subjectId: '' },
    unknown: { eventId: randomUUID(), subjectId: randomUUID() },
  }
  const keys = { limited: '', whole: '' }
  /** What only the other branch has: texts of its payloads, and of its keys, consumers and times. */
  const secrets = [canary]

  before(async () => {
    const place = async (branch: string, summary: string): Promise<Place> => {
      const payload = property({ branch_id: branch, details: { summary } })
      const { events } = await publish(service(), { payload })
      return { eventId: events[0]?.id ?? '', subjectId: events[0]?.transactionId ?? '' }
    }
    places.own = await place('Dale', 'A house.')
    const { createdDate: ownCreated = '' } = await lastOf('Dale')
    // Times are shown to the millisecond.
    await until(() => Date.now() > Date.parse(`${ownCreated.slice(0, 23)}Z`) + 1, { what: 'a later time' })
    places.foreign = await place('Fell', canary)
    await publish(service(), { payload: contact({ notes: canary }) }, { feed: 'contact' })
    keys.limited = await branchKey(service(), ['Dale'])
    const { tenantId } = service().tenant
    const scopes = ['property:read', 'property:publish'] as const
    keys.whole = (await service().issue({ grants: [{ tenantId, scopes }] })).text
    const foreign = await branchKey(service(), ['Fell'], 'Fell – £ Lantern website 🏮')
    const headers = { 'x-feed-consumer': 'lantern-portal' }
    const asked = await call(service(), '/v1/property-events?after=0', { key: foreign, headers })
    assert.equal(asked.status, 200)
    const { createdDate = '' } = await lastOf('Fell')
    const [, keyId = ''] = foreign.split('_')
    secrets.push(createdDate.slice(0, 23), keyId, 'Lantern website', 'lantern-portal')
  })

  /** The last event of a branch, as a key of the whole agency reads it. */
  async function lastOf(branch: string): Promise<{ readonly createdDate?: string }> {
    const answer = await call(service(), `${listPath}?pageSize=1000`, { key: service().tenant.readKey })
    return pageOf(answer).items.findLast(({ payload }) => payload.includes(`"branch_id":"${branch}"`)) ?? {}
  }

  const keyed = operationsOf(committedDocument()).filter(({ security }) => (security ?? []).length > 0)
  const open = (
    path: string,
    method: string,
    key: string,
    { eventId, subjectId }: Place,
  ): Promise<Answer> => {
    const values: Readonly<Record<string, string>> = {
      eventId,
      subjectId,
      contactRef: subjectId,
      feed: 'property',
    }
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => values[name] ?? places.unknown.subjectId,
    )
    // A stream has no end to wait for.
    if (path.endsWith('/stream')) return call(service(), `${filled}?after=head`, { key, method: 'HEAD' })
    return call(service(), filled, {
      method,
      key,
      ...(method === 'GET' ? {} : { headers: json, body: '{}' }),
    })
  }
  const told = ({ status, text }: Answer): unknown => {
    if (text === '' || !text.startsWith('{"type"')) return status
    const { requestId, instance, ...rest } = JSON.parse(text) as Record<string, unknown>
    assert.ok(requestId !== undefined && instance !== undefined)
    return rest
  }

  it('opens the doors that the same scopes open without branches, and no other (P10, D11)', async () => {
    for (const { path, method } of keyed) {
      const [limited, whole] = [
        await open(path, method, keys.limited, places.own),
        await open(path, method, keys.whole, places.own),
      ]
      assert.equal(limited.status, whole.status, `${method} ${path}: ${limited.text}`)
    }
    const opened = await Promise.all(
      keyed.map(({ path, method }) => open(path, method, keys.limited, places.own)),
    )
    assert.ok(opened.filter(({ status }) => status === 200).length >= 10)
  })

  it('answers for another branch as for something that nobody has published (P10, D8)', async () => {
    for (const { path, method } of keyed) {
      const [foreign, unknown] = [
        await open(path, method, keys.limited, places.foreign),
        await open(path, method, keys.limited, places.unknown),
      ]
      assert.deepEqual(told(foreign), told(unknown), `${method} ${path}`)
    }
  })

  it('shows nothing of another branch on any route that reads, plain or gzipped (P10)', async () => {
    let shown = 0
    const known = new Set<string>()
    for (const { path, method } of keyed.filter((one) => one.method === 'GET')) {
      if (path.endsWith('/stream')) continue
      for (const place of Object.values(places)) {
        const answer = await open(path, method, keys.limited, place)
        for (const secret of secrets) assert.ok(!answer.text.includes(secret), `${path}: ${answer.text}`)
        const whole = await open(path, method, keys.whole, place)
        for (const secret of secrets) if (whole.text.includes(secret)) known.add(secret)
        if (whole.text.includes(canary)) shown += 1
      }
    }
    assert.ok(shown >= 8, 'a key of the whole agency is shown it')
    assert.deepEqual(known, new Set(secrets), 'a key of the whole agency is shown all of it')
  })

  const send = (items: unknown, query = '', key = keys.limited): Promise<Answer> =>
    call(service(), `${publishPath}${query}`, {
      method: 'POST',
      key,
      headers: json,
      body: JSON.stringify(items),
    })

  it('publishes for its own branch, and for another one neither payloads nor removals nor dry runs (P10, P6)', async () => {
    const { foreign, unknown } = places
    const own = property({ branch_id: 'Dale' })
    const head = async () =>
      (await call(service(), `${publishPath}?limit=1`, { key: keys.whole })).headers['x-feed-head']
    const before = await head()
    const refused: readonly [unknown, string][] = [
      [{ payload: property({ branch_id: 'Fell' }) }, '/payload/branch_id'],
      [{ payload: property() }, '/payload/branch_id'],
      [{ payload: { ...own, agent_ref: foreign.subjectId } }, ''],
      [{ remove: { agentRef: foreign.subjectId } }, ''],
      [[{ payload: own }, { remove: { agentRef: foreign.subjectId } }], '/1'],
    ]
    for (const [items, pointer] of refused) {
      for (const query of ['', '?dryRun=true', '?unchanged=skip']) {
        const answer = await send(items, query)
        const { code, errors = [] } = problemOf(answer)
        assert.deepEqual([answer.status, code], [403, 'branch_not_granted'], answer.text)
        assert.deepEqual(
          errors.map((error) => error.pointer),
          [pointer],
        )
        assert.ok(!answer.text.includes('Fell') && !answer.text.includes(canary))
      }
    }
    assert.equal(await head(), before, 'nothing was stored')
    assert.equal(problemOf(await send({ remove: { agentRef: unknown.subjectId } })).code, 'unknown_subject')
    for (const item of [{ payload: own }, { remove: { agentRef: own.agent_ref } }]) {
      assert.equal((await send(item)).status, 201)
    }
    // It may not give a property away either: that is for the whole agency.
    const given = await send({ payload: { ...own, branch_id: 'Fell' } })
    assert.equal(problemOf(given).code, 'branch_not_granted')
  })

  it('is limited in the agency that its grant says, and in no other (PROTOCOL §2, P10)', async () => {
    const { tenant, otherTenant } = service()
    const elsewhere = property({ branch_id: 'Fell' })
    await publish(service(), { payload: elsewhere }, { key: otherTenant.publishKey })
    const scopes = ['property:read', 'property:publish'] as const
    const { text: key } = await service().issue({
      grants: [
        { tenantId: tenant.tenantId, scopes, branches: ['Dale'] },
        { tenantId: otherTenant.tenantId, scopes },
      ],
    })
    const ask = (path: string, tenantId: string, more: object = {}) =>
      call(service(), path, { key, ...more, headers: { ...json, 'x-tenant': tenantId } })
    const branchesOf = async (tenantId: string): Promise<readonly string[]> => {
      const answer = await ask(`${publishPath}?limit=1000`, tenantId)
      assert.equal(answer.status, 200, answer.text)
      const { items }: { items: readonly { payload: string }[] } = JSON.parse(answer.text)
      return items.map(({ payload }) => (JSON.parse(payload) as { branch_id: string }).branch_id)
    }
    assert.deepEqual([...new Set(await branchesOf(tenant.tenantId))], ['Dale'])
    assert.deepEqual(await branchesOf(otherTenant.tenantId), ['Fell'])
    const body = JSON.stringify({ payload: property({ branch_id: 'Fell' }) })
    const sent = { method: 'POST', body }
    assert.equal((await ask(publishPath, tenant.tenantId, sent)).status, 403)
    assert.equal((await ask(publishPath, otherTenant.tenantId, sent)).status, 201)
    const { heads }: { heads: readonly { tenantId: string; sequenceNumber: number }[] } = JSON.parse(
      (await call(service(), '/v1/heads', { key })).text,
    )
    const numbers = new Map(heads.map(({ tenantId, sequenceNumber }) => [tenantId, sequenceNumber]))
    const own: { items: readonly { sequenceNumber: number }[] } = JSON.parse(
      (await ask(`${publishPath}?limit=1000`, tenant.tenantId)).text,
    )
    assert.equal(numbers.get(tenant.tenantId), own.items.at(-1)?.sequenceNumber)
    assert.equal(numbers.get(otherTenant.tenantId), 2)
  })

  it('ends its streams and its waiting when it is given other branches (D11)', async () => {
    const { tenantId } = service().tenant
    const grant = { tenantId, scopes: ['property:read'] as const, branches: ['Dale'] }
    const { text: key, keyId } = await service().issue({ grants: [grant] })
    await branchKey(service(), ['Dale', 'Fell'])
    const head = (await call(service(), `${publishPath}?limit=1`, { key })).headers['x-feed-head']
    const waiting = call(service(), `${publishPath}?after=${String(head)}&wait=20`, { key })
    await service().storage.keys.grant(keyId, { ...grant, branches: ['Dale', 'Fell'] }, 'cli:test')
    const answer = await waiting
    assert.deepEqual([answer.status, problemOf(answer).code], [401, 'key_disabled'])
    const again = await call(service(), `${publishPath}?limit=1000`, { key })
    assert.ok(again.text.includes(canary))
  })
})
