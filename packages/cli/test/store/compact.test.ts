/** What becomes of erased bytes: overwritten in the store, and erased again where a backup has brought them back (D17). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openStorage } from '@property-events/server'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, runPrinted, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const canary = 'Canary-7d02'

interface Receipt {
  readonly id: string
  readonly state: string
  readonly reason: string
  readonly notCovered: readonly { readonly code: string; readonly madeAt?: readonly string[] }[]
}

describe('erasures of a data folder', () => {
  const root = temporaryFolder()
  const folder = join(root, 'data')
  const list = join(root, 'erasures')
  const backup = join(root, 'backup.db')
  const data = ['--data', folder]
  const [contactRef, agentRef, corrected] = [randomUUID(), randomUUID(), randomUUID()]
  let tenantId: string
  let keys: Readonly<Record<'read' | 'publish' | 'erase', string>>
  let running: Running | undefined

  async function serve(of: string, ...more: readonly string[]): Promise<Running> {
    running = await start(['serve', '--data', of, ...more])
    return running
  }
  async function publish(feed: string, publication: unknown): Promise<string> {
    const answer = await fetch(`${running?.line.url}/v1/${feed}-events`, {
      method: 'POST',
      headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
      body: JSON.stringify([publication]),
    })
    const text = await answer.text()
    assert.equal(answer.status, 201, text)
    return (JSON.parse(text) as { events: { id: string }[] }).events[0]?.id ?? ''
  }
  async function erase(...args: readonly string[]): Promise<Receipt> {
    return runJson<Receipt>([...args, '--url', running?.line.url ?? '', '--key', keys.erase])
  }
  /** Everything that is held about the three, as it is answered. */
  async function answers(): Promise<string> {
    const paths = [
      ...['property', 'contact'].flatMap((feed) => [`/v1/${feed}-events`, `/v1/${feed}-events/snapshot`]),
      ...[`/v1/contacts/${contactRef}`, `/v1/properties/${agentRef}`, `/v1/properties/${corrected}`].flatMap(
        (path) => [path, `${path}/history`],
      ),
    ]
    const texts: string[] = []
    for (const path of paths) {
      const answer = await fetch(`${running?.line.url}${path}`, { headers: { 'x-api-key': keys.read } })
      assert.equal(answer.status, 200, path)
      texts.push(await answer.text())
    }
    return texts.join('\n')
  }
  function restored(name: string): string {
    const place = join(root, name)
    mkdirSync(place, { mode: 0o700 })
    copyFileSync(backup, join(place, 'property-events.db'))
    copyFileSync(join(folder, 'pepper'), join(place, 'pepper'))
    return place
  }

  before(async () => {
    await serve(folder, '--erasures', list)
    const made = await makeTenant({ data: folder }, 'Hill & Co', {
      read: ['read'],
      publish: ['publish'],
      erase: ['erase'],
    })
    tenantId = made.tenantId
    keys = { read: made.keys.read.key, publish: made.keys.publish.key, erase: made.keys.erase.key }
  })
  after(async () => {
    if (running?.child.exitCode === null) await running.stop('SIGKILL')
    removeFolder(root)
  })

  it('are overwritten by compact while the service runs; the receipt names the backup, and the list has them (D17)', async () => {
    await publish('contact', { payload: { contact_ref: contactRef, last_name: canary } })
    await publish('property', { payload: { agent_ref: agentRef, published: true, [canary]: canary } })
    const faulty = await publish('property', {
      payload: { agent_ref: corrected, published: true, note: canary },
    })
    await runJson(['backup', backup, ...data])
    await publish('property', { payload: { agent_ref: corrected, published: true } })
    const receipts = [
      await erase('contacts', 'erase', contactRef),
      await erase('properties', 'erase', agentRef),
      await erase('events', 'erase', faulty, '--reason', 'published_in_error'),
    ]
    for (const { state, notCovered } of receipts) {
      assert.equal(state, 'unreachable')
      assert.equal(notCovered.find(({ code }) => code === 'backups')?.madeAt?.length, 1)
    }
    assert.equal(statSync(list).mode & 0o777, 0o600)
    const lines = readFileSync(list, 'utf8').trimEnd().split('\n').slice(1)
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 5)),
      [
        [receipts[0]?.id, tenantId, 'contact', 'subject', contactRef],
        [receipts[1]?.id, tenantId, 'property', 'subject', agentRef],
        [receipts[2]?.id, tenantId, 'property', 'event', faulty],
      ],
    )
    const holding = () =>
      readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(canary))
    assert.notDeepEqual(holding(), [])
    writeFileSync(join(folder, 'copy.db'), '')
    const done = await runJson<{ overwritten: number; otherFiles: string[] }>(['compact', ...data])
    assert.deepEqual([done.overwritten, done.otherFiles], [3, ['copy.db']])
    assert.deepEqual(holding(), [])
    const again = await run(['compact', ...data])
    assert.deepEqual([again.code, /nothing was done/.test(again.stdout)], [0, true])
    const { id = '' } = receipts[0] ?? {}
    const shown = await run(['erasures', 'show', id, '--url', running?.line.url ?? '', '--key', keys.erase])
    assert.match(shown.stdout, /^state +overwritten/m)
    assert.match(shown.stdout, /^ {2}backups: .*\n {4}20\d\d-/m)
    assert.equal((await running?.stop())?.code, 0)
  })

  it('that a backup has brought back are not served: epoch start erases them again from the list (D17)', async () => {
    const place = restored('restored')
    const served = await run(['serve', '--port', '0', '--data', place, '--erasures', list])
    assert.equal(served.code, 1)
    assert.match(served.stderr, /an older copy: it contains again what 3 of the erasures/)
    const bare = await run(['epoch', 'start', '--continue-after', '100', '--data', place])
    assert.equal(bare.code, 1)
    assert.match(bare.stderr, /keys that may erase.*--erasures FILE.*--accept-lost-erasures/s)
    const line = /^.* epoch start .*$/m.exec(served.stderr)?.[0] ?? ''
    const begun = await runPrinted(line.replace(' N ', ' 100 '))
    assert.equal(begun.code, 0, begun.stderr)
    assert.match(begun.stdout, /3 were carried out again, 0 were already known here/)
    assert.match(begun.stdout, new RegExp(`publish them again: ${corrected}`))

    await serve(place, '--erasures', list)
    assert.equal((await answers()).includes(canary), false)
    const receipts = await runJson<Receipt[]>([
      'erasures',
      'list',
      '--url',
      running?.line.url ?? '',
      '--key',
      keys.erase,
    ])
    assert.deepEqual(
      receipts.map(({ state, reason }) => [state, reason]),
      receipts.map(() => ['unreachable', 'replayed']),
    )
    assert.equal(readFileSync(list, 'utf8').trimEnd().split('\n').length, 4, 'each once')
    assert.equal((await running?.stop())?.code, 0)
    const twice = await run([
      'epoch',
      'start',
      '--continue-after',
      '200',
      '--data',
      place,
      '--erasures',
      list,
    ])
    assert.match(twice.stdout, /0 were carried out again, 3 were already known here/)
  })

  it('stay as a backup has restored them if an operator accepts that (D17)', async () => {
    const place = restored('accepted')
    const both = ['--erasures', list, '--accept-lost-erasures']
    const epoch = ['epoch', 'start', '--continue-after', '100', '--data', place]
    assert.match((await run([...epoch, ...both])).stderr, /and not both/)
    const accepted = await runJson<{ erasures: null }>([...epoch, '--accept-lost-erasures'])
    assert.equal(accepted.erasures, null)
    await serve(place, '--erasures', list)
    assert.equal((await answers()).includes(canary), true)
    assert.equal((await running?.stop())?.code, 0)
  })

  it('are not served either from a snapshot of the disk, which does not know that it is one (D17)', async () => {
    const place = restored('snapshot')
    await using storage = await openStorage({ kind: 'sqlite', folder: place, create: false })
    await storage.startEpoch(100, 'cli:test')
    const served = await run(['serve', '--port', '0', '--data', place, '--erasures', list])
    assert.equal(served.code, 1)
    assert.match(served.stderr, /an older copy: it contains again what 3 of the erasures/)
  })

  it('are not written if the list would be lost with the store, or is something else (D18)', async () => {
    const inside = await run(['serve', '--port', '0', ...data, '--erasures', join(folder, 'erasures')])
    assert.match(inside.stderr, /lies in the data folder/)
    const other = join(root, 'other')
    writeFileSync(other, 'something else\n')
    const refused = await run(['serve', '--port', '0', ...data, '--erasures', other])
    assert.match(refused.stderr, /is not a list of erasures/)
    const missing = ['epoch', 'start', '--continue-after', '1', ...data, '--erasures', join(root, 'none')]
    assert.match((await run(missing)).stderr, /does not exist/)
    for (const [args, words] of [
      [['--schedule', '2:30'], /must be a time of day such as 02:30/],
      [['--schedule', '02:30', '--always'], /use one of them/],
    ] as const) {
      const { code, stderr } = await run(['compact', ...args, ...data])
      assert.equal(code, 1)
      assert.match(stderr, words)
    }
    const nowhere = await run(['compact', '--schedule', '02:30', '--data', join(root, 'nowhere')])
    assert.match(nowhere.stderr, /There is no store/)
  })
})
