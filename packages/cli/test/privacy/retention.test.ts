/** How long payloads are kept, as an operator sets and sees it at the command line (D17). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import { draft, tenantA } from '../../../server/test/store/support/drafts.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { testClock } from '../../../server/test/store/support/test-clock.ts'
import { copyStore } from '@property-events/server'
import { removeFolder, run, runJson, temporaryFolder } from '../support/program.ts'
import { temporaryStore } from '../../../server/test/support/temporary-store.ts'

const dayMs = 86_400_000

interface Counted {
  readonly tenantId: string
  readonly feed: string
  readonly days: number
  readonly events: number
}

describe('retention at the command line', () => {
  let folder: string
  let data: readonly string[]
  let tenantId = ''
  before(async () => {
    folder = temporaryFolder()
    data = ['--data', folder]
    const { clock, set } = testClock('2025-01-01')
    const place = { kind: 'sqlite', folder, create: true, catalogue: catalogues.default } as const
    await using store = await openStorage({ ...place, clock })
    tenantId = tenantA
    await store.tenants.createTenant({ tenantId, name: 'Hill', createdMs: 0, suspended: false }, 'cli:test')
    for (const [days, text] of [
      [500, 'oldest'],
      [300, 'older'],
      [1, 'present'],
    ] as const) {
      set(new Date(Date.now() - days * dayMs).toISOString().slice(0, 19))
      await publish(store, [draft({ subject: 'c', text })], { key: { tenantId, feed: 'contact' } })
    }
  })
  after(() => removeFolder(folder))

  const dry = (...args: readonly string[]) =>
    runJson<readonly Counted[]>(['retention', 'run', '--dry-run', ...args, ...data])

  it('is off unless requested, and says so', async () => {
    assert.deepEqual(await dry(), [])
    const { stdout, code } = await run(['retention', 'run', ...data])
    assert.equal(code, 0)
    assert.match(stdout, /everything is kept/)
    assert.match((await run(['retention', 'list', ...data])).stdout, /No tenant has rules of its own/)
  })

  it('counts in a dry run what each rule would take, by the flags of serve or by a tenant’s own', async () => {
    const contact = { tenantId, feed: 'contact' }
    assert.deepEqual(await dry('--retain-contacts', '400d'), [{ ...contact, days: 400, events: 1 }])
    const set = ['retention', 'set', 'Hill', '--retain-contacts']
    const own = { retainContactsDays: 200, retainPropertiesDays: null, expireContactsDays: null }
    assert.deepEqual(await runJson([...set, '200d', ...data]), { tenantId, ...own })
    assert.deepEqual(await runJson(['retention', 'list', ...data]), [{ tenantId, name: 'Hill', ...own }])
    assert.deepEqual(await dry('--retain-contacts', '400d'), [{ ...contact, days: 200, events: 2 }])
    await runJson([...set, 'off', ...data])
    assert.deepEqual(await dry('--retain-contacts', '400d'), [])
    assert.match((await run([...set, 'default', ...data])).stdout, /retain-contacts default/)
    const [row] = await runJson<readonly { action: string; detail: unknown }[]>(['audit', 'list', ...data])
    assert.deepEqual([row?.action, row?.detail], ['retention.set', { rule: 'retain-contacts', days: null }])
  })

  it('refuses an invalid number of days, in a sentence that says what is valid', async () => {
    for (const [args, said] of [
      [
        ['set', 'Hill', '--retain-contacts', '400'],
        /must be a number of days such as 400d, or off, or default/,
      ],
      [
        ['set', 'Hill'],
        /Specify what to set: one or more of --retain-contacts, --retain-properties, --expire-contacts/,
      ],
      [['run', '--retain-properties', '13 months'], /must be a number of days such as 400d, or off/],
    ] as const) {
      const { code, stderr } = await run(['retention', ...args, ...data])
      assert.equal(code, 1)
      assert.match(stderr, said)
    }
  })

  it('removes the payloads at once, and none a second time; a copy of the store has the rules and what is left', async () => {
    await runJson(['retention', 'set', 'Hill', '--retain-contacts', '200d', ...data])
    const taken = await runJson<readonly Counted[]>(['retention', 'run', ...data])
    assert.deepEqual(taken, [{ tenantId, feed: 'contact', days: 200, events: 2 }])
    const [again] = await runJson<readonly Counted[]>(['retention', 'run', ...data])
    assert.equal(again?.events, 0)
    const place = { kind: 'sqlite', folder, create: false } as const
    await using from = await openStorage(place)
    await using to = await temporaryStore()
    const { signal } = new AbortController()
    await copyStore({ from, to, actor: 'cli:test', onProgress: () => undefined, signal })
    assert.deepEqual(await to.retention.rules(), await from.retention.rules())
    const key = { tenantId, feed: 'contact' } as const
    const events = await to.events.readAfter({ key, view: 'all', after: 0, limit: 9, latestOnly: false })
    const texts = events.map(({ json }) => Buffer.from(json).toString())
    assert.deepEqual(
      texts.map((text) => /older|oldest/.test(text)),
      [false, false, false],
    )
    assert.match(texts[2] ?? '', /present/)
  })
})
