/** The thread that writes: how durable its commits are, and what happens when it dies. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import { openStore } from '../../src/storage/sqlite/open-store.ts'
import { linkWriter } from '../../src/storage/sqlite/writer-link.ts'
import type { WriterLink } from '../../src/storage/sqlite/writer-link.ts'
import { batch, draft, tenantA } from './support/drafts.ts'
import { receipt } from './support/read-back.ts'
import { slowCommits } from './support/slow-commits.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

async function linkTo(folder: string): Promise<{ readonly link: WriterLink; readonly file: string }> {
  const { file } = await openStore(folder, true, { catalogue: catalogues.default })
  const link = linkWriter({ file, maxBytes: undefined, clock: undefined, overrideClockCheck: false })
  await link.call('createTenant', { tenantId: tenantA, name: 'A', createdMs: 0, suspended: false })
  return { link, file }
}

async function end(link: WriterLink): Promise<void> {
  await link.call('close')
  await link.ended()
}

describe('the writer', () => {
  it('commits in WAL mode with a flush before each acknowledgement (P7)', async () => {
    using folder = temporaryFolder()
    const { link } = await linkTo(folder.path)
    assert.deepEqual(await link.call('durability'), { journalMode: 'wal', synchronous: 2 })
    await end(link)
  })

  it('dies without leaving anyone waiting, and is there again for the next request (P7)', async () => {
    using folder = temporaryFolder()
    const { link, file } = await linkTo(folder.path)
    const release = slowCommits(file, 200)
    const sent = [batch([draft({ subject: 'a', id: 'e' }), draft({ subject: 'b', id: 'f' })])]
    const pending = [link.call('append', sent, 0n), link.call('append', sent, 0n)]
    await delay(50)
    const died = Promise.allSettled(pending)
    await link.worker()?.terminate()
    for (const outcome of await died) {
      assert.equal(outcome.status, 'rejected')
      const { name, code }: { name: string; code: string } = outcome.reason
      assert.deepEqual([name, code], ['StorageFailure', 'storage_unavailable'])
    }
    release()
    // Stored whole or not at all; repeating it by its ids settles which.
    const lines = receipt((await link.call('append', sent, 0n))[0])
    assert.equal(new Set(lines.map((line) => line.status)).size, 1)
    assert.deepEqual(
      lines.map((line) => line.stored?.sequenceNumber),
      [1, 2],
    )
    await end(link)
  })

  it('says that the store is unavailable when its file is gone, every time it is asked', async () => {
    const { link } = await (async () => {
      using folder = temporaryFolder()
      const linked = await linkTo(folder.path)
      await linked.link.worker()?.terminate()
      return linked
    })()
    for (let n = 0; n < 2; n += 1) {
      await assert.rejects(link.call('append', [batch([draft({ subject: 'p' })])], 0n), {
        name: 'StorageFailure',
        code: 'storage_unavailable',
      })
    }
  })
})
