/** `properties find`: by a part of an address, postcode or reference, in the store of one tenant. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openStorage } from '@property-events/server'
import { catalogues } from '@property-events/protocol'
import { draft, feedKey, removal, tenantA, tenantB, uuid } from '../../../server/test/store/support/drafts.ts'
import { publish } from '../../../server/test/store/support/read-back.ts'
import { withTenants } from '../../../server/test/store/support/stores.ts'
import { removeFolder, run, runJson, temporaryFolder } from '../support/program.ts'

interface Found {
  readonly found: readonly { readonly agentRef: string; readonly address: string; readonly live: boolean }[]
  readonly searched: number
  readonly more: boolean
}

function home(name: string, address: object, further: object = {}): ReturnType<typeof draft> {
  const { content, ...frame } = draft({ subject: name })
  assert.ok(content.kind === 'payload')
  const text = JSON.stringify({ agent_ref: uuid(name), published: true, address, ...further })
  return { ...frame, content: { ...content, text } }
}

describe('finding a property at the command line', () => {
  const data = join(temporaryFolder(), 'data')
  after(() => removeFolder(join(data, '..')))

  it('shows those with the text in their address, postcode or reference, removed ones too, of this tenant alone (PROTOCOL §12.5, P10)', async () => {
    const mill = {
      house_name_number: '4',
      address_2: 'Mill Lane',
      town: 'Ely',
      postcode_1: 'CB7',
      postcode_2: '4AA',
    }
    await (async () => {
      const made = { kind: 'sqlite', folder: data, create: true, catalogue: catalogues.default } as const
      await using store = await withTenants(await openStorage(made))
      await publish(store, [
        home('a', mill),
        home('b', { address_2: 'High \u001bStreet', town: 'Tŷ-croes' }, { reference: 'MILL-7' }),
      ])
      await publish(store, [home('c', mill), removal({ subject: 'c' })])
      await publish(store, [home('d', mill)], { key: feedKey(tenantB) })
    })()
    const place = ['--tenant', tenantA, '--data', data]
    const { found, searched, more } = await runJson<Found>(['properties', 'find', 'MILL', ...place])
    assert.deepEqual([searched, more], [3, false])
    assert.deepEqual(
      found.map(({ agentRef, live }) => [agentRef, live]),
      [
        [uuid('c'), false],
        [uuid('b'), true],
        [uuid('a'), true],
      ],
    )
    const { stdout } = await run(['properties', 'find', 'cb7 4aa', ...place])
    assert.match(stdout, /4, Mill Lane, Ely +CB7 4AA +removed/)
    assert.ok(!stdout.includes(uuid('b')))
    const welsh = await runJson<Found>(['properties', 'find', 'ty croes', ...place])
    assert.deepEqual(
      welsh.found.map(({ agentRef }) => agentRef),
      [uuid('b')],
    )
    const byId = await run(['properties', 'find', uuid('b'), ...place])
    assert.match(byId.stdout, /High \\u001bStreet, Tŷ-croes +MILL-7 +live/)
    const none = await run(['properties', 'find', 'fell', ...place])
    assert.deepEqual([none.code, none.stdout], [0, 'No match among 3 properties.\n'])
    const empty = await run(['properties', 'find', '...', ...place])
    assert.deepEqual([empty.code === 0, /must contain a letter or a digit/.test(empty.stderr)], [false, true])
  })
})
