/** Who changed what, as an operator sees it at the command line. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import { until } from '../../../server/test/support/until.ts'
import { finished, removeFolder, run, runJson, spawnProgram, temporaryFolder } from '../support/program.ts'

interface Row {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly tenant: string | null
  readonly target: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

describe('the audit at the command line', () => {
  let folder: string
  let data: readonly string[]
  before(async () => {
    folder = temporaryFolder()
    data = ['--data', folder]
    const place = { kind: 'sqlite', folder } as const
    await (await openStorage({ ...place, create: true, catalogue: catalogues.default })).close()
  })
  after(() => removeFolder(folder))

  const byDesk = { environment: { PROPERTY_EVENTS_ACTOR: 'desk-17' } }
  const list = (...args: readonly string[]) => runJson<readonly Row[]>(['audit', 'list', ...args, ...data])
  const lines = (text: string): readonly Row[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Row => JSON.parse(line))

  it('records for each command what it changed and by which opaque id, newest first, and never a name', async () => {
    const { tenantId } = await runJson<{ tenantId: string }>(['tenants', 'create', 'Hill & Co', ...data])
    const made = await runJson<{ keyId: string }>(
      ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'contact:read', '--label', 'Anna', ...data],
      byDesk,
    )
    await runJson(['keys', 'expire', made.keyId, '90d', ...data], byDesk)
    await runJson(['keys', 'revoke', made.keyId, ...data], byDesk)
    await runJson(['tenants', 'suspend', 'Hill & Co', ...data])
    await runJson(['epoch', 'start', '--continue-after', '10', '--tenant', 'Hill & Co', ...data])
    await run(['tenants', 'create', 'Hill & Co', ...data])
    await run(['keys', 'revoke', 'nosuchkey', ...data])
    const rows = await list()
    assert.deepEqual(
      rows.map(({ action }) => action),
      [
        'epoch.started',
        'epoch.started',
        'tenant.suspended',
        'key.revoked',
        'key.expiry_set',
        'key.created',
        'tenant.created',
      ],
    )
    assert(rows.every(({ tenant }) => tenant === tenantId))
    assert.deepEqual(
      rows.filter(({ target }) => target === made.keyId).map(({ actor }) => actor),
      ['cli:desk-17', 'cli:desk-17', 'cli:desk-17'],
    )
    assert.match(rows[0]?.actor ?? '', /^cli:[0-9a-f]{12}$/)
    assert(!/Hill|Anna/.test(JSON.stringify(rows)))
  })

  it('is searched by tenant, action, target and time', async () => {
    assert.deepEqual(
      (await list('--action', 'key.revoked')).map(({ actor }) => actor),
      ['cli:desk-17'],
    )
    assert.equal((await list('--tenant', 'Hill & Co', '--limit', '2')).length, 2)
    assert.equal((await list('--from', '1h')).length, 7)
    assert.equal((await list('--to', '1h')).length, 0)
    const { code, stderr } = await run(['audit', 'list', '--from', 'yesterday', ...data])
    assert.equal(code, 1)
    assert.match(stderr, /^--from is "yesterday", but must be a time ago such as 12h/)
    const shown = await run(['audit', 'list', '--action', 'tenant.created', ...data])
    assert.match(shown.stdout, /^at \(UTC\) +actor +action/)
  })

  it('is exported in the order of commits and continued after any row, also by one who follows', async () => {
    const whole = await run(['audit', 'export', ...data])
    const rows = lines(whole.stdout)
    assert.deepEqual(rows, (await list()).toReversed())
    const third = rows[2]?.id ?? ''
    const rest = await run(['audit', 'export', '--after', third, ...data])
    assert.deepEqual(lines(rest.stdout), rows.slice(3))
    const child = spawnProgram(['audit', 'export', '--follow', '--after', third, ...data])
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const ended = finished(child)
    await until(() => lines(text).length === rows.length - 3)
    await runJson(['tenants', 'resume', 'Hill & Co', ...data])
    await until(() => text.includes('tenant.resumed'))
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
    const unknown = await run(['audit', 'export', '--after', crypto.randomUUID(), ...data])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /This store has no row .* Leave out --after to export every row\./)
  })

  it('keeps six years of rows through a pruning, and refuses to keep less than one', async () => {
    const { removed } = await runJson<{ removed: number }>(['audit', 'prune', ...data])
    assert.equal(removed, 0)
    for (const keep of ['0y', '90d', '100y']) {
      const { code, stderr } = await run(['audit', 'prune', '--keep', keep, ...data])
      assert.equal(code, 1)
      assert.match(stderr, /--keep is ".*", but must be a number of years from 1y to 99y/)
    }
  })

  it('is copied with the store, and what the copy changed has its own rows', async () => {
    const to = temporaryFolder()
    try {
      const before = (await list()).toReversed()
      const copy = ['copy', '--from', folder, '--to', to]
      assert.equal((await run(copy)).code, 0)
      assert.equal((await run(copy)).code, 0)
      const { stdout } = await run(['audit', 'export', '--data', to])
      const rows = lines(stdout)
      assert.deepEqual(rows.slice(0, before.length), before)
      assert.deepEqual(
        rows.slice(before.length).map(({ action }) => action),
        ['store.filled', 'tenant.created', 'key.created', 'store.filled', 'store.filled', 'store.filled'],
      )
    } finally {
      removeFolder(to)
    }
  })

  it('refuses an actor that could be a name', async () => {
    const { code, stderr } = await run(['tenants', 'suspend', 'Hill & Co', ...data], {
      environment: { PROPERTY_EVENTS_ACTOR: 'Anna Hill' },
    })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /PROPERTY_EVENTS_ACTOR is "Anna Hill", but must be 1 to 40 letters, digits and hyphens/,
    )
  })
})
