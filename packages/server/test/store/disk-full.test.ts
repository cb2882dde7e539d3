/** A disk, or a size set by the operator, that is used up: publishing says so, reading goes on, and it recovers. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { StorageFailure } from '../../src/sql/storage-errors.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, feedKey } from './support/drafts.ts'
import { headOf, list, publish } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const text = 'x'.repeat(20_000)

async function open(folder: string, maxBytes?: number): Promise<StorageEngine> {
  const options = { kind: 'sqlite', folder, create: true, catalogue: catalogues.default } as const
  return withTenants(await openStorage({ ...options, maxBytes }))
}

/** Publishes until the store refuses; the error, and how many requests were acknowledged. */
async function fill(store: StorageEngine): Promise<{ readonly stored: number; readonly error: unknown }> {
  for (let stored = 0; stored < 5000; stored += 1) {
    try {
      await publish(store, [draft({ subject: `fill ${stored}`, text }), draft({ subject: 'second', text })])
    } catch (error) {
      return { stored, error }
    }
  }
  throw new Error('the store was never full')
}

async function assertReadable(store: StorageEngine, stored: number): Promise<void> {
  assert.equal((await headOf(store)).position, stored * 2)
  const events = await list(store)
  assert.equal(events.length, stored * 2)
  assert.ok(await store.events.readEvent(feedKey(), events.at(-1)?.id ?? ''))
  assert.ok(await store.events.locate({ key: feedKey(), view: 'sales', from: 0n }))
  const asked = batch([draft({ subject: 'preview' })])
  assert.equal((await store.events.preview(asked)).kind, 'stored')
}

function assertFull(error: unknown): void {
  assert.ok(error instanceof StorageFailure)
  assert.equal(error.code, 'storage_full', String(error.cause))
}

describe('a full store', () => {
  it('refuses to publish at the size the operator set, whole requests only, and reads on (P6, P7)', async () => {
    using folder = temporaryFolder()
    await using store = await open(folder.path, 1_000_000)
    const { stored, error } = await fill(store)
    assertFull(error)
    assert.ok(stored > 10)
    await assertReadable(store, stored)
    for (let n = 0; n < 3; n += 1) {
      const drafts = [draft({ subject: 'again', text }), draft({ subject: 'second', text })]
      await assert.rejects(publish(store, drafts), { code: 'storage_full' })
    }
    await assertReadable(store, stored)
  })

  it('publishes again when the operator gives it more', async () => {
    using folder = temporaryFolder()
    const small = await open(folder.path, 500_000)
    const { stored } = await fill(small)
    await small.close()
    await using larger = await open(folder.path, 2_000_000)
    await publish(larger, [draft({ subject: 'again', text })])
    assert.equal((await headOf(larger)).position, stored * 2 + 1)
  })

  it('does the same on a disk without space, and recovers by itself when there is some (P6, P7)', async (context) => {
    using folder = temporaryFolder()
    using disk = smallDisk(folder.path)
    if (!disk.mounted) {
      context.skip('this process cannot mount a file system of 4 MB')
      return
    }
    await using store = await open(disk.path)
    const ballast = join(disk.path, 'ballast')
    writeFileSync(ballast, Buffer.alloc(1_000_000))
    const { stored, error } = await fill(store)
    assertFull(error)
    await assertReadable(store, stored)
    rmSync(ballast)
    await publish(store, [draft({ subject: 'again', text }), draft({ subject: 'again', text })])
    await assertReadable(store, stored + 1)
  })
})

describe('a disk that refuses writes for another reason', () => {
  it('is not called full: the store is unavailable, reads on, and recovers by itself (P6, P7)', async (context) => {
    using folder = temporaryFolder()
    await using store = await open(folder.path)
    await publish(store, [draft({ subject: 'before', text }), draft({ subject: 'before', text })])
    const log = join(folder.path, 'property-events.db-wal')
    if (!setImmutable(log, true)) {
      context.skip('this process, or this file system, cannot make a file immutable')
      return
    }
    try {
      await assert.rejects(publish(store, [draft({ subject: 'refused', text })]), (error) => {
        assert.ok(error instanceof StorageFailure)
        assert.equal(error.code, 'storage_unavailable', String(error.cause))
        return true
      })
      await assertReadable(store, 1)
    } finally {
      setImmutable(log, false)
    }
    await publish(store, [draft({ subject: 'again', text }), draft({ subject: 'again', text })])
    await assertReadable(store, 2)
    assert.deepEqual(readdirSync(folder.path).toSorted(), [
      'property-events.db',
      'property-events.db-shm',
      'property-events.db-wal',
    ])
  })
})

/** Whether it could be done. Writes to an immutable file fail with EPERM, also through descriptors that are open. */
function setImmutable(path: string, immutable: boolean): boolean {
  try {
    execFileSync('chattr', [immutable ? '+i' : '-i', path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A file system of 4 MB, where this process may mount one; else the folder itself. */
function smallDisk(path: string): {
  readonly path: string
  readonly mounted: boolean
  [Symbol.dispose](): void
} {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    return { path, mounted: false, [Symbol.dispose]: () => undefined }
  }
  return {
    path,
    mounted: true,
    [Symbol.dispose]: () => void execFileSync('umount', ['--lazy', path], { stdio: 'ignore' }),
  }
}
