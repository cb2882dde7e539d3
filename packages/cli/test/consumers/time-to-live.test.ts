/** How long a website takes until what is published is live there, on the command line (PROTOCOL §14.6). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { findPeppers, openStorage } from '@property-events/server'
import { draft, feedKey, removal, tenantA, uuid } from '../../../server/test/store/support/drafts.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

const label = 'Safle Tŷ Gwyn – £ 🏡'
const minuteMs = 60_000
const folder = temporaryFolder()
after(() => removeFolder(folder))

/** Forty listings of two days ago: most live after 12 minutes, three after 2 hours, one held, one removed before it was live. */
async function plant(): Promise<void> {
  writeFileSync(join(folder, 'pepper'), 'ab'.repeat(32), { mode: 0o600 })
  await using store = await openStorage({
    kind: 'sqlite',
    folder,
    create: true,
    catalogue: catalogues.default,
  })
  await store.tenants.createTenant(
    { tenantId: tenantA, name: 'Gwynedd Homes', createdMs: 1, suspended: false },
    'cli:test',
  )
  const [pepper] = findPeppers({ folder, given: undefined, old: undefined }) ?? []
  const record = {
    keyId: 'siteTyGwyn00',
    secretHash: new Uint8Array(32),
    pepperId: pepper?.pepperId ?? '',
    label,
    operator: false,
    createdMs: 1,
    grants: [{ tenantId: tenantA, scopes: ['property:read'] as const }],
    expiresMs: undefined,
    revokedMs: undefined,
    lastUsedMs: undefined,
    rate: undefined,
  }
  await store.keys.insertKey(record, 'cli:test')
  const publishedMs = Date.now() - 2 * 86_400_000
  const key = feedKey(tenantA)
  const drafts = Array.from({ length: 40 }, (_, n) =>
    draft({ subject: `house ${n}`, text: label, requestedCreated: BigInt(publishedMs) * 10_000n }),
  )
  await publish(store, drafts, { key })
  await publish(store, [removal({ subject: 'house 39' })], { key })
  await store.consumers.putResults(
    Array.from({ length: 39 }, (_, n) => ({
      tenantId: tenantA,
      subjectId: uuid(`house ${n}`),
      keyId: record.keyId,
      name: 'default',
      sequenceNumber: n + 1,
      outcome: n === 38 ? ('held' as const) : ('live' as const),
      code: undefined,
      message: undefined,
      url: undefined,
      resultMs: publishedMs + (n < 35 ? 12 : 120) * minuteMs,
    })),
  )
  await publish(store, [draft({ subject: 'house 0', text: 'pris newydd' })], { key })
  const part = { view: 'all', space: 'ordinals', epoch: (await store.events.head(key))?.epoch ?? '' } as const
  const answer = { askedMs: Date.now(), status: 200, route: 'list', quietMs: undefined, minutes: [] } as const
  await store.consumers.add([{ key, keyId: record.keyId, name: 'default', ...part, ...answer }])
}

it('consumers list says how long listings take until they are live, and how many are not; why says it of one (D28)', async () => {
  await plant()
  const where = ['--data', folder]
  const create = (...words: readonly string[]) =>
    runJson<{ readonly key: string }>(['keys', 'create', '--tenant', tenantA, ...words, ...where])
  const { key } = await create('--scope', 'tenant:inspect')
  const { key: publisher } = await create('--scope', 'property:publish')
  const running = await start(['serve', ...where])
  const to = ['--url', running.line.url, '--key']
  const { stdout: list } = await run(['consumers', 'list', ...to, key])
  const { stdout: contacts } = await run(['consumers', 'list', '--feed', 'contact', ...to, key])
  const { stdout: why } = await run(['why', uuid('house 0'), ...to, publisher])
  const json = await runJson<{ readonly consumers: readonly { readonly timeToLive: object }[] }>([
    'consumers',
    'list',
    ...to,
    key,
  ])
  await running.stop()
  const [head = '', row = ''] = list.split('\n').slice(1)
  assert.match(head, /live after +not live/)
  assert.match(row, /^Safle Tŷ Gwyn – £ 🏡 .* 12 min, 2 h +1, oldest \d{4}-\d\d-\d\d \d\d:\d\d; 1 never/)
  assert.doesNotMatch(contacts, /live after/)
  assert.match(why, /Half of its listings are live within 12 min, 95 of 100 within 2 h\./)
  const {
    since: _,
    oldestNotLiveAt: __,
    ...counts
  } = Object.assign({ since: '', oldestNotLiveAt: '' }, json.consumers[0]?.timeToLive)
  assert.deepEqual(counts, { live: 38, p50Seconds: 720, p95Seconds: 7_200, notLiveYet: 1, neverLive: 1 })
})
