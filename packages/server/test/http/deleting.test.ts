/** Deleting a tenant over HTTP: what it says before, what nobody can read meanwhile, and the certificate (PROTOCOL §12.9). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { adminScopes, uuidV7 } from '@property-events/protocol'
import type { Deletion } from '../../src/index.ts'
import { call, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const listPath = '/api/func/api/v1/events/getevents'

interface Certificate {
  readonly id: string
  readonly tenantId: string
  readonly name: string | null
  readonly state: string
  readonly counts: Readonly<Record<string, number>>
  readonly exported: object | null
  readonly deletedAt: string | null
  readonly feeds: readonly { readonly feed: string; readonly events: number; readonly digest: string }[]
}

/** What the exporter of the test is told to do, one promise for each deletion. */
const exporting = { wait: Promise.resolve(), of: [] as Deletion[] }

const exportTenant = async (deletion: Deletion) => {
  exporting.of.push(deletion)
  await exporting.wait
  return { file: 'tenant.db', bytes: 7, sha256: 'ab'.repeat(32) }
}

async function tenantWith(service: TestService, name: string) {
  const tenantId = randomUUID()
  const { admin } = await keysOf(service)
  const made = await call(service, '/v1/admin/tenants', {
    method: 'POST',
    key: admin,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tenantId, name }),
  })
  assert.equal(made.status, 201, made.text)
  const scopes = ['property:read', 'property:publish'] as const
  const { text: key } = await service.issue({ grants: [{ tenantId, scopes }] })
  const payload = property()
  await publish(service, { id: randomUUID(), payload }, { key })
  return { tenantId, key, subjectId: payload.agent_ref }
}

const operators = new WeakMap<TestService, Promise<string>>()

async function keysOf(service: TestService): Promise<{ readonly admin: string }> {
  const made =
    operators.get(service) ?? service.issue({ operator: true, adminScopes }).then(({ text }) => text)
  operators.set(service, made)
  return { admin: await made }
}

async function patch(service: TestService, tenantId: string, change: object): Promise<Answer> {
  const { admin } = await keysOf(service)
  return call(service, `/v1/admin/tenants/${tenantId}`, {
    method: 'PATCH',
    key: admin,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
}

onEngines('deleting a tenant', { exportTenant, deletionSettleMs: 0 }, (service) => {
  const ask = async (path: string, method = 'GET'): Promise<Answer> =>
    call(service(), `/v1/admin${path}`, { method, key: (await keysOf(service())).admin })
  const certificate = async (path: string): Promise<Certificate> => {
    const answer = await call(service(), path, { key: (await keysOf(service())).admin })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Certificate
  }

  it('says what would go, refuses one in use, and deletes one that is suspended, to the last row (PROTOCOL §12.9)', async () => {
    const { tenantId, key } = await tenantWith(service(), 'Hill & Co')
    const path = `/tenants/${tenantId}`
    const inUse = await ask(`${path}?export=none`, 'DELETE')
    assert.equal(inUse.status, 409)
    assert.match(inUse.text, /tenant_in_use/)
    const plan = JSON.parse((await ask(`${path}?dryRun=true`, 'DELETE')).text) as {
      readonly counts: object
      readonly refusedBecause: string | null
    }
    assert.match(plan.refusedBecause ?? '', /Suspend it first/)
    await patch(service(), tenantId, { suspended: true })
    const again = JSON.parse((await ask(`${path}?dryRun=true`, 'DELETE')).text) as typeof plan
    assert.equal(again.refusedBecause, null)
    const begun = await ask(`${path}?export=none`, 'DELETE')
    assert.equal(begun.status, 202, begun.text)
    const { location = '' } = begun.headers
    await until(async () => (await certificate(location)).state === 'deleted')
    const last = await certificate(location)
    assert.deepEqual(
      [last.tenantId, last.name, last.counts['events'], last.counts['keys'], last.exported],
      [tenantId, null, 1, 1, null],
    )
    assert.deepEqual(last.counts, again.counts, 'as the dry run had said')
    assert.doesNotMatch(JSON.stringify(last), /Hill/)
    assert.equal((await ask(path)).status, 404)
    assert.equal((await call(service(), listPath, { key })).status, 401)
    assert.equal((await call(service(), listPath, { key: service().tenant.readKey })).status, 200)
    const listed = JSON.parse((await ask('/deletions')).text) as { readonly items: readonly Certificate[] }
    assert(listed.items.some(({ id }) => id === last.id))
    // Its name is free.
    await tenantWith(service(), 'Hill & Co')
  })

  it('is exported first, and nothing of it is read or published meanwhile (PROTOCOL §12.9, P10)', async () => {
    const { tenantId, key } = await tenantWith(service(), 'Dale & Co')
    const path = `/tenants/${tenantId}`
    const exported = Promise.withResolvers<void>()
    exporting.wait = exported.promise
    try {
      await patch(service(), tenantId, { suspended: true })
      const begun = await ask(path, 'DELETE')
      assert.equal(begun.status, 202, begun.text)
      const { id, state } = JSON.parse(begun.text) as Certificate
      assert.equal(state, 'exporting')
      await until(async () => exporting.of.some(({ deletionId }) => deletionId === id))
      const repeated = JSON.parse((await ask(path, 'DELETE')).text) as Certificate
      assert.equal(repeated.id, id, 'asked for again, it is the same')
      const shown = JSON.parse((await ask(path)).text) as { readonly deletion: object }
      assert.deepEqual(shown.deletion, { id, state: 'exporting' })
      await until(async () => (await call(service(), listPath, { key })).status === 401)
      const closed = [
        '/feeds',
        '/property-events',
        '/events/getevents',
        '/erasures',
        `/contacts/${randomUUID()}`,
      ]
      for (const one of closed) {
        const answer = await ask(`${path}${one}`)
        assert.equal(answer.status, 404, one)
        assert.match(answer.text, /being deleted/)
      }
      exported.resolve()
      const { location = '' } = begun.headers
      await until(async () => (await certificate(location)).state === 'deleted')
      assert.deepEqual((await certificate(location)).exported, {
        file: 'tenant.db',
        bytes: 7,
        sha256: 'ab'.repeat(32),
      })
    } finally {
      exported.resolve()
    }
  })

  it('is not deleted while a legal hold keeps one of its properties (PROTOCOL §12.9, D17)', async () => {
    const { tenantId, subjectId } = await tenantWith(service(), 'Kept & Co')
    const key = { tenantId, feed: 'property' } as const
    const holdId = uuidV7(Date.now())
    const untilMs = Date.now() + 1e9
    const held = { holdId, key, subjectId, untilMs, caseRef: undefined }
    const added = await service().storage.holds.add({ ...held, ground: 'legal_claim', actor: 'cli:test' })
    assert.equal(added.kind, 'added')
    await patch(service(), tenantId, { suspended: true })
    const answer = await ask(`/tenants/${tenantId}?export=none`, 'DELETE')
    assert.equal(answer.status, 409)
    assert.match(answer.text, /on_hold.*1 of its properties or contacts are on hold/)
    await service().storage.holds.end(tenantId, holdId, 'cli:test')
    assert.equal((await ask(`/tenants/${tenantId}?export=none`, 'DELETE')).status, 202)
  })

  it('is strict, and for operators who manage alone (PROTOCOL §12, PROTOCOL §12.9, D19)', async () => {
    const { tenantId } = service().tenant
    const strict = await ask(`/tenants/${tenantId}?dryrun=true&export=tape`, 'DELETE')
    assert.equal(strict.status, 400)
    assert.match(strict.text, /dryRun/)
    assert.match(strict.text, /file or none/)
    assert.equal((await ask('/deletions/nothing')).status, 400)
    assert.equal((await ask(`/deletions/${randomUUID()}`)).status, 404)
    assert.equal((await ask('/deletions?after=7')).status, 400)
    const grants = [{ tenantId, scopes: ['tenant:inspect', 'tenant:manage'] as const }]
    const { text: manager } = await service().issue({ grants })
    const { text: inspector } = await service().issue({ operator: true, adminScopes: ['admin:inspect'] })
    for (const key of [manager, inspector]) {
      const answer = await call(service(), `/v1/admin/tenants/${tenantId}?dryRun=true`, {
        method: 'DELETE',
        key,
      })
      assert.equal(answer.status, 403, answer.text)
    }
    const listed = await call(service(), '/v1/admin/deletions', { key: manager })
    assert.equal(listed.status, 403)
  })
})

onEngines('deleting a tenant without a folder for exports', {}, (service) => {
  it('says that nothing can be exported, and deletes without an export if told to (PROTOCOL §12.9)', async () => {
    const { tenantId } = service().otherTenant
    await patch(service(), tenantId, { suspended: true })
    const { admin } = await keysOf(service())
    const answer = await call(service(), `/v1/admin/tenants/${tenantId}`, { method: 'DELETE', key: admin })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /--tenant-exports/)
  })
})
