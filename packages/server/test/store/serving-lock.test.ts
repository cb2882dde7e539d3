import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { acquireServingLock, servedAt } from '../../src/store/open-storage.ts'
import { StorageRefusal } from '../../src/sql/storage-errors.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('the lock for serving a data folder', () => {
  it('is held by one, and free again when released', () => {
    using folder = temporaryFolder()
    const lock = acquireServingLock(folder.path)
    assert.ok(!(lock instanceof StorageRefusal))
    const refusal = acquireServingLock(folder.path)
    assert.ok(refusal instanceof StorageRefusal)
    assert.equal(refusal.code, 'in_use')
    assert.match(refusal.message, /Another process is serving .*--data/)
    lock.release()
    lock.release()
    const again = acquireServingLock(folder.path)
    assert.ok(!(again instanceof StorageRefusal))
    again.release()
  })

  it('says where its holder listens, and nothing of a holder before', () => {
    using folder = temporaryFolder()
    assert.equal(servedAt(folder.path), undefined)
    const at = { url: 'http://127.0.0.1:8080/feeds', metricsUrl: 'http://127.0.0.1:9464/metrics' }
    const lock = acquireServingLock(folder.path)
    assert.ok(!(lock instanceof StorageRefusal))
    assert.equal(servedAt(folder.path), 'starting')
    lock.announce(at)
    assert.deepEqual(servedAt(folder.path), at)
    lock.release()
    assert.equal(servedAt(folder.path), undefined)
    const next = acquireServingLock(folder.path)
    assert.ok(!(next instanceof StorageRefusal))
    assert.equal(servedAt(folder.path), 'starting')
    next.announce({ url: at.url, metricsUrl: undefined })
    assert.deepEqual(servedAt(folder.path), { url: at.url, metricsUrl: undefined })
    next.release()
  })

  it('is refused at once in a folder that cannot be made, and makes the missing parents of one that can', () => {
    using folder = temporaryFolder()
    const lock = acquireServingLock(join(folder.path, 'not', 'there', 'yet'))
    assert.ok(!(lock instanceof StorageRefusal))
    lock.release()
    assert.throws(() => acquireServingLock('/proc/property-events/data'))
  })

  it('stays with the process that took it, and goes with it, even when that is killed', async () => {
    using folder = temporaryFolder()
    const program = fileURLToPath(new URL('./support/hold-serving-lock.ts', import.meta.url))
    using child = spawn(process.execPath, ['--expose-gc', program, folder.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.equal(String(await once(child.stdout, 'data')), 'held, refused\n')
    assert.ok(acquireServingLock(folder.path) instanceof StorageRefusal)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = acquireServingLock(folder.path)
    assert.ok(!(lock instanceof StorageRefusal))
    lock.release()
  })
})
