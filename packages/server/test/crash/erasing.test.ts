/** An erasure goes on after `kill -9` at any moment, and nothing that was reduced comes back (D17, P7). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { StorageEngine } from '../../src/storage/storage.ts'
import { isErasedPayload } from '../../src/storage/reduced-event.ts'
import { draft, tenantA, uuid } from '../storage/support/drafts.ts'
import { begin, reduceAll, subject, wholeText } from '../storage/support/erasing.ts'
import { list, publish } from '../storage/support/read-back.ts'
import { withTenants } from '../storage/support/stores.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { isLongRun } from '../support/on-engines.ts'

const canary = 'canary-93aa'
const program = fileURLToPath(new URL('erase-steps.ts', import.meta.url))
const [eventsOfSubject, kills] = isLongRun ? [100_000, 50] : [600, 3]

function open(folder: string, create = false): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create, ...(create ? { catalogue: catalogues.default } : {}) })
}

/** Kills the process after so many steps, or in the middle of the next one. */
async function killAfter(folder: string, erasureId: string, steps: number): Promise<void> {
  const child = spawn(process.execPath, [program, folder, erasureId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    if (seen.split('\n').length > steps) child.kill('SIGKILL')
  })
  await once(child, 'close')
}

describe('an erasure that is killed', () => {
  it('goes on where it was, and ends; nothing that was reduced comes back (D17, P7)', async () => {
    using folder = temporaryFolder()
    let erasureId = ''
    {
      await using store = await withTenants(await open(folder.path, true))
      for (let from = 0; from < eventsOfSubject; from += 300) {
        const drafts = Array.from({ length: 300 }, (_, index) =>
          draft({
            subject: index % 2 === 0 ? 'p' : 'q',
            text: `${index % 2 === 0 ? canary : ''} ${from + index}`,
          }),
        )
        await publish(store, drafts)
      }
      erasureId = (await begin(store, subject('p'))).erasureId
    }
    let before = 0
    for (let kill = 1; kill <= kills; kill += 1) {
      await killAfter(folder.path, erasureId, 1 + ((kill * 7) % 13))
      await using store = await open(folder.path)
      const erasure = await store.erasures.find(tenantA, erasureId)
      const { reduced = 0, revision = 0 } = erasure ?? {}
      assert.ok(reduced > before, 'a step that was told of is kept')
      before = reduced
      const gone = (await list(store)).filter(({ payload }) => isErasedPayload(payload)).length
      // The closing event never had one.
      assert.equal(gone, reduced + 1)
      const told = await store.erasures.reductions({ tenantId: tenantA, feed: 'property' }, 0, 1_000_000)
      assert.equal(told.at(-1)?.revision, revision)
      assert.equal(told.flatMap(({ sequenceNumbers }) => sequenceNumbers).length, reduced)
    }
    await using store = await open(folder.path)
    await reduceAll(store, erasureId)
    const erasure = await store.erasures.find(tenantA, erasureId)
    assert.deepEqual([erasure?.state, erasure?.reduced], ['reduced', erasure?.events])
    assert.ok(!(await wholeText(store)).includes(canary))
    const others = (await list(store)).filter(({ transactionId }) => transactionId === uuid('q'))
    assert.ok(others.length > 0 && others.every(({ payload }) => !isErasedPayload(payload)))
  })
})
