/** A reader that knows the event types 0 and 1 alone stops at the first other one, and asks for the first page again and again. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { findPeppers, openStorage } from '@property-events/server'
import type { KeyRecord } from '@property-events/server'
import { draft, feedKey, tenantA } from '../../../server/test/store/support/drafts.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { testClock } from '../../../server/test/store/support/test-clock.ts'
import { launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

const label = 'Safle Tŷ Gwyn – £ 🏡'
const hourMs = 3_600_000
const root = temporaryFolder()
const folderOf = (name: string): string => {
  mkdirSync(join(root, name))
  writeFileSync(join(root, name, 'pepper'), 'ab'.repeat(32), { mode: 0o600 })
  return join(root, name)
}
after(() => removeFolder(root))

type Place =
  | { readonly kind: 'sqlite'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Three events, and four keys that were sent the first of them an hour ago, or all. */
async function plant(place: Place, folder: string) {
  const { clock } = testClock(new Date(Date.now() - 2 * hourMs).toISOString())
  await using store = await openStorage({ ...place, create: true, catalogue: catalogues.default, clock })
  const tenant = { tenantId: tenantA, name: 'Gwynedd Homes', createdMs: 1, suspended: false }
  await store.tenants.createTenant(tenant, 'cli:test')
  const [pepper] = findPeppers({ folder, given: undefined, old: undefined }) ?? []
  const key = feedKey(tenantA)
  const texts = ['a', 'b', 'c'].map((subject) => draft({ subject, text: label }))
  await publish(store, texts, { key })
  const epoch = (await store.events.head(key))?.epoch ?? ''
  const askedMs = Date.now() - hourMs
  const addReader = async (words: Pick<KeyRecord, 'keyId' | 'revokedMs' | 'reading'>, last: number) => {
    const { keyId } = words
    const record = {
      secretHash: new Uint8Array(32),
      pepperId: pepper?.pepperId ?? '',
      label,
      operator: false,
      createdMs: 1,
      grants: [{ tenantId: tenantA, scopes: ['property:read'] as const }],
      expiresMs: undefined,
      lastUsedMs: undefined,
      rate: undefined,
    }
    await store.keys.insertKey({ ...record, ...words }, 'cli:test')
    const minutes = [
      { minute: Math.floor(askedMs / 60_000), route: 'list' as const, ranges: [[1, last] as const] },
    ]
    const part = { view: 'all', space: 'ordinals', epoch } as const
    const answer = { askedMs, status: 200, route: 'list', quietMs: undefined } as const
    await store.consumers.add([{ key, keyId, name: 'default', ...part, ...answer, minutes }])
  }
  await addReader({ keyId: 'stops0000000', revokedMs: undefined }, 1)
  await addReader({ keyId: 'revoked00000', revokedMs: 2 }, 1)
  await addReader({ keyId: 'readsOn00000', revokedMs: undefined }, 3)
  const reading = { eventTypes: 'published-0', current: false } as const
  await addReader({ keyId: 'knowsAll0000', revokedMs: undefined, reading }, 1)
}

const expected = {
  check: 'readers',
  status: 'warn',
  detail: `these keys request only the first page of the list, although there is more, so their readers probably stop at an unknown event type: "${label}" of Gwynedd Homes after number 1`,
  remedy:
    'If a reader knows only event types 0 and 1, as the public property importer for WordPress does, give it a new key, created with `keys create --reader wordpress-importer`, and revoke the old one. `consumers list` shows how far behind each is.',
}

async function readersFound(where: readonly string[]) {
  const { stdout, stderr } = await run(['doctor', '--json', '--port', '0', '--metrics-port', '0', ...where])
  assert.equal(stderr, '')
  const findings: readonly { readonly check: string }[] = JSON.parse(stdout)
  return findings.filter(({ check }) => check === 'readers')
}

it('doctor and consumers name the key whose reader stops after its first unknown type, and say what to do (D12, D28)', async () => {
  const folder = folderOf('file')
  const where = ['--data', folder]
  await plant({ kind: 'sqlite', folder }, folder)
  assert.deepEqual(await readersFound(where), [expected])

  const create = ['keys', 'create', '--tenant', tenantA, '--scope', 'tenant:inspect', ...where]
  const { key } = await runJson<{ readonly key: string }>(create)
  const running = await start(['serve', ...where])
  const { stdout } = await run(['consumers', 'list', '--url', running.line.url, '--key', key])
  await running.stop()
  const rows = stdout.split('\n').filter((row) => row.includes('--reader wordpress-importer'))
  assert.equal(rows.length, 1, stdout)
  assert.match(rows[0] ?? '', /^Safle Tŷ Gwyn – £ 🏡 .* stops after 1: /)

  await runJson(['keys', 'revoke', 'stops0000000', ...where])
  assert.deepEqual(await readersFound(where), [])
})

it('doctor names such a key of a database, too (D12, D28)', async () => {
  const folder = folderOf('beside')
  // Of its own: the server that other files share does not flush, which doctor reports before it looks at readers.
  await using server = await launchPostgres()
  const url = server.url()
  await plant({ kind: 'postgres', url }, folder)
  assert.deepEqual(await readersFound(['--data', folder, '--database', url]), [expected])
})
