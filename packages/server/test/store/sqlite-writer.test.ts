/** The thread that writes: how durable its commits are, and what happens when it dies. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues } from '@property-events/protocol'
import Database from 'better-sqlite3'
import { createAppendQueue } from '../../src/publishing/append-queue/append-queue.ts'
import { sqliteAccess } from '../../src/sql/sqlite.ts'
import { changeCounts } from '../../src/events/watchers.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { commitLine } from '../../src/events/sqlite/commit-line.ts'
import { openStore } from '../../src/store/sqlite/open-store.ts'
import { appendThrough } from '../../src/events/sqlite/append/append-messages.ts'
import { hostWriter } from '../../src/store/sqlite/writer/writer-host.ts'
import type { WriterHost } from '../../src/store/sqlite/writer/writer-host.ts'
import { linkWriter } from '../../src/store/sqlite/writer/writer-link.ts'
import type { WriterLink } from '../../src/store/sqlite/writer/writer-link.ts'
import { tenantStore } from '../../src/tenants/store.ts'
import { batch, draft, tenantA } from './support/drafts.ts'
import { list, numbers, receipt } from './support/read-back.ts'
import { slowCommits } from './support/slow-commits.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

interface Linked {
  readonly link: WriterLink
  readonly host: WriterHost
  readonly file: string
}

async function linkTo(folder: string): Promise<Linked> {
  const { file } = await openStore(folder, true, { catalogue: catalogues.default })
  const options = { file, maxBytes: undefined, clock: undefined, overrideClockCheck: false }
  const changes = changeCounts()
  const host = hostWriter({ ...options, changes: changes.memory }, commitLine(changes))
  const link = linkWriter(host)
  const db = new Database(file, { readonly: true })
  const tenants = tenantStore(
    sqliteAccess(
      db,
      undefined,
      link,
      () => undefined,
      async (run) => run(),
    ),
  )
  await tenants.createTenant({ tenantId: tenantA, name: 'A', createdMs: 0, suspended: false }, 'cli:test')
  db.close()
  return { link, host, file }
}

async function end({ link, host }: Linked): Promise<void> {
  await link.close()
  await host.ended()
}

/** Of every thread of this process, its number and its priority; none where the system does not show them. */
function threadPriorities(): readonly (readonly [thread: string, priority: number])[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/task').map((thread) => {
    // Behind the name, which may hold spaces, field 17 is the priority.
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return [thread, Number(fields?.[16])]
  })
}

describe('the writer', () => {
  it('commits in WAL mode with a flush before each acknowledgement (P7)', async () => {
    using folder = temporaryFolder()
    const linked = await linkTo(folder.path)
    assert.deepEqual(await linked.link.durability(), { journalMode: 'wal', synchronous: 2 })
    await end(linked)
  })

  it('dies without leaving any caller waiting, and is back for the next request (P7)', async () => {
    using folder = temporaryFolder()
    const linked = await linkTo(folder.path)
    const { link, host, file } = linked
    // Far longer than until the thread is ended, on a slow machine as well.
    const release = slowCommits(file, 1_500)
    const sent = [batch([draft({ subject: 'a', id: 'e' }), draft({ subject: 'b', id: 'f' })])]
    const pending = [appendThrough(link, sent), appendThrough(link, sent)]
    await delay(50)
    const died = Promise.allSettled(pending)
    await host.worker()?.terminate()
    for (const outcome of await died) {
      assert.equal(outcome.status, 'rejected')
      const { name, code }: { name: string; code: string } = outcome.reason
      assert.deepEqual([name, code], ['StorageFailure', 'storage_unavailable'])
    }
    release()
    // Stored whole or not at all; repeating it by its ids settles which.
    const lines = receipt((await appendThrough(link, sent))[0])
    assert.equal(new Set(lines.map((line) => line.status)).size, 1)
    assert.deepEqual(
      lines.map((line) => line.stored?.sequenceNumber),
      [1, 2],
    )
    await end(linked)
  })

  it('gives readers priority: only its thread has a lower priority, on Linux', async () => {
    using folder = temporaryFolder()
    const before = threadPriorities()
    const linked = await linkTo(folder.path)
    const lowered = threadPriorities().filter(([thread]) => !before.some(([other]) => other === thread))
    const own = getPriority()
    if (process.platform === 'linux') {
      assert.deepEqual(
        lowered.map(([, priority]) => priority).filter((priority) => priority !== own),
        [Math.min(19, own + 10)],
      )
    }
    assert.ok(before.every(([, priority]) => priority === own))
    assert.equal(getPriority(process.pid), own)
    await end(linked)
  })

  it('refuses only what it cannot store, and stores the rest of the commit (P6)', async () => {
    using folder = temporaryFolder()
    await using store = await withTenants(
      await openStorage({
        kind: 'sqlite',
        folder: folder.path,
        create: true,
        catalogue: catalogues.default,
      }),
    )
    const database = new Database(join(folder.path, 'property-events.db'))
    database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON event WHEN CAST(new.json AS TEXT) LIKE '%not this one%'
      BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    database.close()
    const queue = createAppendQueue(store.events)
    const texts = ['first', 'a', 'not this one', 'b']
    const results = await Promise.allSettled(
      texts.map((text, n) => queue.submit(batch([draft({ subject: `p${n}`, text })]))),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(numbers(await list(store)), [1, 2, 3])
  })

  it('reports that the store is unavailable when its file is gone, every time', async () => {
    const { link } = await (async () => {
      using folder = temporaryFolder()
      const linked = await linkTo(folder.path)
      await linked.host.worker()?.terminate()
      return linked
    })()
    for (let n = 0; n < 2; n += 1) {
      await assert.rejects(appendThrough(link, [batch([draft({ subject: 'p' })])]), {
        name: 'StorageFailure',
        code: 'storage_unavailable',
      })
    }
  })
})
