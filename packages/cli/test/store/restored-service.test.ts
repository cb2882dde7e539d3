/** What is kept on this side of the wire, after the service was restored from a backup: older events, another epoch. */
import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import Database from 'better-sqlite3'
import { property } from '../../../server/test/support/property.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const root = temporaryFolder()
const [lost, restored] = [temporaryFolder(), temporaryFolder()]
let running: Running
let [readKey, publishKey] = ['', '']

const homes = ['Môr Awel', 'Tŷ Gwyn – £1,250', 'Hafod 🏡'].map((name) => property({ house_name: name }))
const [one, two, three] = homes

/** Publishes each as a file of its own run. */
async function publish(...payloads: readonly (object | undefined)[]): Promise<void> {
  const file = join(root, 'homes.ndjson')
  writeFileSync(file, payloads.map((payload) => `${JSON.stringify({ payload })}\n`).join(''))
  const flags = ['--url', running.line.url, '--key', publishKey, '--new-run']
  const { code, stderr } = await run(['publish', file, ...flags])
  assert.equal(code, 0, stderr)
}

const changed = { ...one, house_name: 'Môr Awel, “newydd”' }
/** Both kinds of copy: the numbers of events that a folder has, and how many listings a table has. */
const targets = [join(root, 'copy'), `sqlite:${join(root, 'website.db')}`]

async function sync(): Promise<readonly string[]> {
  const said: string[] = []
  for (const target of targets) {
    const { code, stderr } = await run(['sync', target, '--url', running.line.url, '--key', readKey])
    assert.equal(code, 0, stderr)
    said.push(stderr)
  }
  return said
}

function held() {
  const [folder = ''] = targets
  const files = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  const db = new Database(join(root, 'website.db'), { readonly: true })
  const listings = db.prepare<[], string>('SELECT reference FROM listings ORDER BY reference').pluck().all()
  db.close()
  const known = homes.map(({ agent_ref: reference }) => reference)
  return {
    folder: known.filter((reference) => texts.includes(reference)),
    isChanged: texts.includes('newydd'),
    listings: listings.toSorted(),
  }
}

before(async () => {
  running = await start(['serve', '--data', lost])
  const { keys } = await makeTenant({ data: lost }, 'Gwynedd Homes', { read: ['read'], publish: ['publish'] })
  ;[readKey, publishKey] = [keys.read.key, keys.publish.key]
})
after(async () => {
  await running.stop()
  for (const folder of [root, lost, restored]) removeFolder(folder)
})

it('copies begin anew with a sentence that says why, and in the end hold all that the feed holds (D13, P1)', async () => {
  await publish(one, two)
  await runJson(['backup', join(restored, 'property-events.db'), '--data', lost])
  copyFileSync(join(lost, 'pepper'), join(restored, 'pepper'))
  await publish(changed, three)
  for (const words of await sync()) assert.doesNotMatch(words, /read again/)
  const all = homes.map(({ agent_ref: reference }) => reference).toSorted()
  assert.deepEqual([held().listings, held().isChanged], [all, true])

  await running.stop()
  await runJson(['epoch', 'start', '--continue-after', '0', '--data', restored])
  running = await start(['serve', '--data', restored, '--port', new URL(running.line.url).port])
  // Published again in another order, so that numbers of before are those of other events.
  await publish(three)
  for (const words of await sync()) {
    assert.match(words, /Reading the whole feed again \(it has started a new epoch, as after a restore\)\./)
  }
  assert.deepEqual([held().listings, held().isChanged], [all, false])
  await publish(changed)
  for (const words of await sync()) assert.doesNotMatch(words, /read again/)
  const { folder, isChanged, listings } = held()
  assert.deepEqual([folder.toSorted(), isChanged, listings], [all, true, all])
})
