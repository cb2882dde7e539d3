/** `tenants delete`: exported first, as a store that opens; and a leaving tenant that is moved goes on leaving. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openStorage, storeFileOf } from '@property-events/server'
import type { StorageEngine } from '@property-events/server'
import { catalogues } from '@property-events/protocol'
import { draft, feedKey, tenantA, tenantB } from '../../../server/test/store/support/drafts.ts'
import { list, publish } from '../../../server/test/store/support/read-back.ts'
import { withTenants } from '../../../server/test/store/support/stores.ts'
import { moveTenant } from '@property-events/server'
import { removeFolder, run, runJson, temporaryFolder } from '../support/program.ts'

const actor = 'cli:test'

interface Certificate {
  readonly state: string
  readonly counts: { readonly events: number; readonly keys: number }
  readonly exported: { readonly sha256: string } | null
  readonly feeds: readonly { readonly digest: string }[]
}

async function storeIn(folder: string): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
}

describe('deleting a tenant at the command line', () => {
  const root = temporaryFolder()
  after(() => removeFolder(root))

  it('says what would go, exports it as a store that opens, and leaves a certificate (PROTOCOL §12.9)', async () => {
    const data = join(root, 'data')
    const events = await (async () => {
      await using store = await withTenants(await storeIn(data))
      await publish(store, [draft({ subject: 'p' }), draft({ subject: 'q' })])
      return await list(store, { key: feedKey(tenantA) })
    })()
    const place = ['--data', data]
    const plan = await runJson<{ readonly refusedBecause: string }>([
      'tenants',
      'delete',
      tenantA,
      '--dry-run',
      ...place,
    ])
    assert.match(plan.refusedBecause, /Suspend it first/)
    const refused = await run(['tenants', 'delete', tenantA, '--without-export', ...place])
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /tenants suspend/)
    await runJson(['tenants', 'suspend', tenantA, ...place])
    const file = join(root, 'exported.db')
    const certificate = await runJson<Certificate>(['tenants', 'delete', tenantA, '--export', file, ...place])
    assert.deepEqual([certificate.state, certificate.counts.events], ['deleted', 2])
    assert.deepEqual(await runJson(['tenants', 'deletions', ...place]), [certificate])
    await using exported = await openStorage({ kind: 'sqlite', folder: storeFileOf(file), create: false })
    assert.deepEqual(await list(exported, { key: feedKey(tenantA) }), events)
    assert.deepEqual(
      (await exported.tenants.tenants()).map(({ tenantId }) => tenantId),
      [tenantA],
    )
    await using left = await storeIn(data)
    assert.deepEqual(
      (await left.tenants.tenants()).map(({ tenantId }) => tenantId),
      [tenantB],
    )
  })

  it('keeps a leaving tenant leaving after it was moved (PROTOCOL §5.10, D11)', async () => {
    await using from = await withTenants(await storeIn(join(root, 'from')))
    await using to = await storeIn(join(root, 'to'))
    await publish(from, [draft({ subject: 'p' })])
    const leaving = { tenantId: tenantA, sinceMs: Date.now(), readingEndsMs: Date.now() + 1e8 }
    await from.leaving.begin(leaving, actor)
    const tenant = (await from.tenants.tenants()).find(({ tenantId }) => tenantId === tenantA)
    assert(tenant !== undefined)
    const { signal } = new AbortController()
    const quiet = { withoutKeys: false, peppers: undefined, onProgress: () => undefined, signal }
    await moveTenant({ from, to, actor, tenant, ...quiet })
    assert.deepEqual(await to.leaving.list(), [{ ...leaving, unpublishedMs: undefined }])
    assert.deepEqual(await to.leaving.of([tenantA, tenantB]), await to.leaving.list())
    assert.deepEqual(await from.leaving.list(), [{ ...leaving, unpublishedMs: undefined }])
    // What is removed later, here or there, is told of where it is at home.
    await to.leaving.noteUnpublished(leaving, leaving.sinceMs + 1, 'service')
    assert.equal((await to.leaving.list())[0]?.unpublishedMs, leaving.sinceMs + 1)
  })
})
