/** The file of a backup, on its way to where it is needed. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openStorage } from '../../src/storage/open-storage.ts'
import { storeWithHistory } from '../storage/contract/transferring.ts'
import { feedKey } from '../storage/support/drafts.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { postgresStores } from './postgres-stores.ts'
import { sharedDatabases } from './test-databases.ts'

describe('a backup of a database', () => {
  const stores = postgresStores()
  const folder = temporaryFolder()
  after(async () => {
    await stores.clean()
    folder[Symbol.dispose]()
  })

  const restored = async (text: string, url: string) => {
    const file = join(folder.path, 'given')
    writeFileSync(file, text)
    return openStorage({ kind: 'postgres', url, file, create: true })
  }

  it('is refused if a part of it is missing, wherever it was cut, and then leaves the database empty (P7)', async () => {
    await using store = await storeWithHistory(await stores.create())
    const path = join(folder.path, 'whole')
    await store.backup(path)
    const whole = readFileSync(path, 'utf8')
    const lines = whole.split('\n')
    const databases = await sharedDatabases()
    const url = await databases.create()
    const upTo = (count: number): string => `${lines.slice(0, count).join('\n')}\n`
    for (const [name, text] of [
      ['behind its first line', upTo(1)],
      ['between two tables', upTo(lines.indexOf('subject'))],
      ['in the middle of a table', upTo(lines.indexOf('event_id') - 1)],
      ['before its last line', upTo(lines.length - 2)],
      ['in a line', whole.slice(0, Math.floor(whole.length / 2))],
      ['in its last line', whole.slice(0, -2)],
      ['and a line is missing', lines.toSpliced(lines.indexOf('event') + 1, 1).join('\n')],
      ['and something follows', `${whole}event\n`],
    ] as const) {
      await assert.rejects(restored(text, url), { name: 'StorageRefusal', code: 'not_a_store' }, name)
    }
    const newer = whole.replace(/"schema_version":\d+/, '"schema_version":99')
    await assert.rejects(restored(newer, url), {
      name: 'StorageRefusal',
      code: 'newer_schema',
      message: /schema 99.*newer program/,
    })
    // A backup is only read into an empty database.
    await using again = await restored(whole, url)
    assert.deepEqual(await again.events.head(feedKey()), await store.events.head(feedKey()))
    // As it was written before it had an end.
    const older = lines.with(0, lines[0]?.replace('2', '1') ?? '').slice(0, -2)
    await using fromOlder = await restored(`${older.join('\n')}\n`, await databases.create())
    assert.deepEqual(await fromOlder.events.head(feedKey()), await store.events.head(feedKey()))
  })
})
