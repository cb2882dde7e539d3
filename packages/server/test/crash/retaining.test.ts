/** Retention goes on after `kill -9` at any moment, and nothing that it took comes back (D17, P7). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { catalogues, ticksPerSecond } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import { isReducedPayload } from '../../src/storage/reduced-event.ts'
import type { StorageEngine } from '../../src/storage/storage.ts'
import { draft, feedKey, uuid } from '../storage/support/drafts.ts'
import { wholeText } from '../storage/support/erasing.ts'
import { headOf, list, publish } from '../storage/support/read-back.ts'
import { withTenants } from '../storage/support/stores.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { isLongRun } from '../support/on-engines.ts'

const canary = 'canary-06be'
const program = fileURLToPath(new URL('thin-steps.ts', import.meta.url))
const [events, kills] = isLongRun ? [100_000, 50] : [600, 3]

function open(folder: string, create = false): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create, ...(create ? { catalogue: catalogues.default } : {}) })
}

/** Kills the process after so many steps, or in the middle of the next one. */
async function killAfter(folder: string, before: bigint, nodeId: string, steps: number): Promise<void> {
  const child = spawn(process.execPath, [program, folder, String(before), nodeId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    if (seen.split('\n').length > steps) child.kill('SIGKILL')
  })
  await once(child, 'close')
}

describe('retention that is killed', () => {
  it('goes on where it was, and ends; nothing that it took comes back, and no latest goes (D17, P7)', async () => {
    using folder = temporaryFolder()
    {
      await using store = await withTenants(await open(folder.path, true))
      for (let from = 0; from < events; from += 300) {
        const drafts = Array.from({ length: 300 }, (_, index) =>
          draft({ subject: index % 2 === 0 ? 'p' : 'q', text: `${canary} ${from + index}` }),
        )
        await publish(store, drafts)
      }
      await publish(
        store,
        ['p', 'q'].map((subject) => draft({ subject, text: 'present' })),
      )
    }
    const later = BigInt(Date.now()) * 10_000n + 86_400n * ticksPerSecond
    // The same node each time, so that no turn has to run out.
    const nodeId = 'the killed one'
    let before = 0
    for (let kill = 1; kill <= kills; kill += 1) {
      await killAfter(folder.path, later, nodeId, 1 + ((kill * 7) % 13))
      await using store = await open(folder.path)
      const gone = (await list(store)).filter(({ payload }) => isReducedPayload(payload)).length
      assert.ok(gone > before, 'a step that was told of is kept')
      before = gone
      const { thinned } = await headOf(store)
      // Each step takes five, and has raised the counter with them.
      assert.equal(gone, thinned * 5)
    }
    await using store = await open(folder.path)
    const span = { key: feedKey(), before: later, supersededBefore: later }
    while ((await store.retention.thin(span, 100, nodeId)).kind === 'thinned') continue
    assert.ok(!(await wholeText(store)).includes(canary))
    const kept = (await list(store)).filter(({ payload }) => !isReducedPayload(payload))
    assert.deepEqual(
      kept.map(({ transactionId }) => transactionId),
      [uuid('p'), uuid('q')],
    )
  })
})
