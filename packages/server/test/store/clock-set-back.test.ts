/** A process that is killed after it has answered polls by time, and a clock that was set back when it comes back (P3). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft } from './support/drafts.ts'
import { list, located, numbers, publish } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { testClock, ticks } from './support/test-clock.ts'
import type { TestClock } from './support/test-clock.ts'

const program = fileURLToPath(new URL('./support/answer-window.ts', import.meta.url))

function open(folder: string, { clock }: TestClock): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default, clock })
}

/** What a power cut would leave of an open store. */
function asAfterCrash(folder: string, copy: string): void {
  for (const name of ['property-events.db', 'property-events.db-wal']) {
    if (existsSync(join(folder, name))) cpSync(join(folder, name), join(copy, name))
  }
}

describe('a store that is opened again with a clock that was set back', () => {
  it('stamps nothing before a window that a killed process had answered (P3)', async () => {
    using folder = temporaryFolder()
    const clock = testClock('2025-01-31T12:00:00')
    await (await withTenants(await open(folder.path, clock))).close()
    const answered = '2025-01-31T12:01:00'
    using child = spawn(process.execPath, [program, folder.path, answered], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.equal(String((await once(child.stdout, 'data'))[0]), 'answered\n')
    child.kill('SIGKILL')
    await once(child, 'exit')
    clock.set('2025-01-31T12:00:30')
    await using store = await open(folder.path, clock)
    await publish(store, [draft({ subject: 'a' })])
    assert.deepEqual(numbers(await list(store, { from: ticks(answered) })), [1])
  })

  it('and does so however often that happens (P3)', async () => {
    const clock = testClock('2025-01-31T12:00:00')
    let source = temporaryFolder()
    await (await withTenants(await open(source.path, clock))).close()
    for (const [answeredAt, setBackTo] of [
      ['2025-01-31T12:00:20', '2025-01-31T12:00:01'],
      ['2025-01-31T12:00:15', '2025-01-31T11:59:00'],
      ['2025-01-31T12:00:16', '2025-01-31T12:00:15'],
    ] as const) {
      const store = await open(source.path, clock)
      const copy = temporaryFolder()
      clock.set(answeredAt)
      const shown = numbers(await list(store, { from: ticks(answeredAt) }))
      asAfterCrash(source.path, copy.path)
      await store.close()
      clock.set(setBackTo)
      await using after = await open(copy.path, clock)
      const [line] = await publish(after, [draft({ subject: answeredAt })])
      const seen = numbers(await list(after, { from: ticks(answeredAt) }))
      assert.deepEqual(seen, [...shown, line?.stored?.sequenceNumber])
      await after.close()
      source[Symbol.dispose]()
      source = copy
    }
    source[Symbol.dispose]()
  })

  it('in order, continues with the time of the clock: no more was answered than it shows (P3, D25)', async () => {
    using folder = temporaryFolder()
    const clock = testClock('2025-01-31T12:00:00')
    {
      await using store = await withTenants(await open(folder.path, clock))
      await located(store, { from: 0n })
      await using command = await open(folder.path, clock)
      assert.equal((await command.tenants.tenants()).length, 2, 'beside it, as a command would be')
    }
    clock.set('2025-01-31T12:00:00.5')
    await using again = await open(folder.path, clock)
    const [line] = await publish(again, [draft({ subject: 'a' })])
    assert.equal(line?.stored?.createdDate, '2025-01-31T12:00:00.5000000')
  })

  it('is not trusted by a command that ran beside it and ended first (P3)', async () => {
    using folder = temporaryFolder()
    using copy = temporaryFolder()
    const clock = testClock('2025-01-31T12:00:00')
    await using store = await withTenants(await open(folder.path, clock))
    const command = await open(folder.path, clock)
    await located(command, { from: 0n })
    clock.set('2025-01-31T12:00:08')
    await located(store, { from: 0n })
    await command.close()
    asAfterCrash(folder.path, copy.path)
    clock.set('2025-01-31T12:00:01')
    await using after = await open(copy.path, clock)
    await publish(after, [draft({ subject: 'a' })])
    assert.deepEqual(numbers(await list(after, { from: ticks('2025-01-31T12:00:08') })), [1])
  })
})
