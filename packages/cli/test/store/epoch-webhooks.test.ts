/** What becomes of webhooks with the first epoch of a copy: their receivers are real (PROTOCOL §16, D13). */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import { tenantA } from '../../../server/test/store/support/drafts.ts'
import { withTenants } from '../../../server/test/store/support/stores.ts'
import { withEndpoint } from '../../../server/test/store/support/webhooks.ts'
import { removeFolder, run, runJson, temporaryFolder } from '../support/program.ts'

const root = temporaryFolder()
after(() => removeFolder(root))

const place = (name: string) => ['--data', join(root, name)]

async function stateIn(name: string, endpointId: string): Promise<string> {
  await using store = await openStorage({ kind: 'sqlite', folder: join(root, name), create: false })
  const { state, secrets } = (await store.webhooks.find(endpointId)) ?? assert.fail('no webhook')
  assert.equal(secrets.length, 1)
  return state.kind === 'enabled' ? state.kind : `${state.kind}: ${state.reason}`
}

describe('epoch start --webhooks', () => {
  it('pauses the webhooks of a copy unless it is told to continue, and none of the store itself', async () => {
    mkdirSync(join(root, 'first'))
    const folder = join(root, 'first')
    const made = await openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })
    await withTenants(made)
    const { endpointId } = await withEndpoint(made, { tenantId: tenantA })
    await made.close()
    const backup = join(root, 'backup.db')
    await runJson(['backup', backup, ...place('first')])
    const start = ['epoch', 'start', '--continue-after', '1000']
    for (const [name, given, state] of [
      ['unasked', [], 'paused: copied'],
      ['paused', ['--webhooks', 'paused'], 'paused: copied'],
      ['continued', ['--webhooks', 'continue'], 'enabled'],
    ] as const) {
      mkdirSync(join(root, name))
      copyFileSync(backup, join(root, name, 'property-events.db'))
      const refused = await run([...start, '--webhooks', 'parhau', ...place(name)])
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, /--webhooks is paused or continue, and not parhau\./)
      await runJson([...start, ...given, ...place(name)])
      assert.equal(await stateIn(name, endpointId), state, name)
    }
    // It is no copy, so its receivers are its own.
    await runJson([...start, '--webhooks', 'paused', ...place('first')])
    assert.equal(await stateIn('first', endpointId), 'enabled')
  })

  it('is explained in the help of the command', async () => {
    const { stdout } = await run(['epoch', 'start', '--help'])
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /--webhooks <what> what a copy does with webhooks: paused, or continue/,
    )
    assert.match(stdout.replaceAll(/\s+/g, ' '), /The first epoch in a copy of a store pauses its webhooks/)
  })
})
