/** The file of a backup: it replaces nothing, and what killed processes leave of one goes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { writeNewFile } from '../../src/store/new-file.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const minutes = 60
const hours = 60 * minutes

/** The number of a process that has ended. */
function endedProcess(): number {
  const { pid } = spawnSync(process.execPath, ['--version'])
  return pid
}

describe('a backup that was killed', () => {
  it('leaves nothing behind for ever: the next one in the folder removes what nobody writes to any more', async () => {
    using folder = temporaryFolder()
    const leave = (name: string, ageSeconds: number): string => {
      writeFileSync(join(folder.path, name), 'half of a store')
      const at = Date.now() / 1_000 - ageSeconds
      utimesSync(join(folder.path, name), at, at)
      return name
    }
    const ended = endedProcess()
    // With what SQLite keeps beside a store: an export of a tenant is one.
    for (const end of ['', '-wal', '-shm', '-journal']) {
      leave(`monday.db.${ended}.property-events-partial${end}`, hours)
    }
    leave(`tuesday.db.${process.ppid}.property-events-partial`, 25 * hours)
    const kept = [
      leave(`by-another-machine.db.${ended}.property-events-partial`, minutes),
      leave(`under-way.db.${process.ppid}.property-events-partial`, hours),
      leave(`of-somebody-else.${ended}.partial`, 48 * hours),
    ]
    await writeNewFile(join(folder.path, 'wednesday.db'), async (partial) => writeFileSync(partial, 'whole'))
    assert.deepEqual(readdirSync(folder.path).toSorted(), [...kept, 'wednesday.db'].toSorted())
  })
})

describe('the file of a backup', () => {
  it('has its name when it is complete, and not before', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'backup.db')
    await writeNewFile(path, async (partial) => {
      writeFileSync(partial, 'half')
      assert.ok(!readdirSync(folder.path).includes('backup.db'))
      writeFileSync(partial, 'whole')
    })
    assert.equal(readFileSync(path, 'utf8'), 'whole')
    assert.deepEqual(readdirSync(folder.path), ['backup.db'])
  })

  it('does not replace an existing one, nor one that appears while it is written', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'backup.db')
    for (const comes of ['before', 'meanwhile'] as const) {
      rmSync(path, { force: true })
      if (comes === 'before') writeFileSync(path, "somebody else's")
      const written = writeNewFile(path, async (partial) => {
        writeFileSync(partial, 'ours')
        writeFileSync(path, "somebody else's")
      })
      await assert.rejects(written, { name: 'StorageRefusal', code: 'already_exists' })
      assert.equal(readFileSync(path, 'utf8'), "somebody else's", comes)
      assert.deepEqual(readdirSync(folder.path), ['backup.db'])
    }
  })

  it('leaves nothing behind when it could not be written', async () => {
    using folder = temporaryFolder()
    const failing = writeNewFile(join(folder.path, 'backup.db'), async (partial) => {
      writeFileSync(partial, 'half')
      throw new Error('no room')
    })
    await assert.rejects(failing, /no room/)
    assert.deepEqual(readdirSync(folder.path), [])
  })
})
