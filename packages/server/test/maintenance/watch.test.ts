import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { watchMaintenance } from '../../src/maintenance/watch.ts'
import { StorageFailure } from '../../src/sql/storage-errors.ts'
import { maintenanceNoticeMs } from '../../src/maintenance/maintenance.ts'
import type { Maintenance } from '../../src/maintenance/maintenance.ts'

const on: Maintenance = { sinceMs: 1, retryAfterSeconds: 30 }

/** A watch on a store that answers when it is told to, with a clock that stands still until it is moved. */
function watched() {
  const waiting: PromiseWithResolvers<Maintenance | undefined>[] = []
  const noticed: (Maintenance | undefined)[] = []
  let nowMs = 5_000
  const storage = {
    maintenance() {
      const answer = Promise.withResolvers<Maintenance | undefined>()
      waiting.push(answer)
      return answer.promise
    },
  }
  const watch = watchMaintenance(storage, {
    onChange: (maintenance) => noticed.push(maintenance),
    clock: () => nowMs,
  })
  return {
    watch,
    noticed,
    asked: () => waiting.length,
    move: (ms: number) => void (nowMs += ms),
    answer: (maintenance: Maintenance | undefined) => waiting.at(-1)?.resolve(maintenance),
    fail: (error: Error) => waiting.at(-1)?.reject(error),
    first: () => waiting[0],
  }
}

describe('what a node knows about maintenance', () => {
  it('is never older than half of the promised time, counted from before the store was asked', async () => {
    const { watch, asked, move, answer } = watched()
    const first = watch.now()
    move(maintenanceNoticeMs / 2 - 1)
    answer(undefined)
    assert.equal(await first, undefined)
    assert.equal(watch.now(), undefined, 'at once')
    move(1)
    const second = watch.now()
    assert.equal(asked(), 2)
    answer(on)
    assert.equal(await second, on)
    assert.equal(watch.now(), on, 'at once')
  })

  it('takes one query to the store, however many publish at the same time', async () => {
    const { watch, asked, answer } = watched()
    const answers = Array.from({ length: 50 }, () => watch.now())
    assert.equal(asked(), 1)
    answer(on)
    for (const one of answers) assert.equal(await one, on)
  })

  it('asks again if the store failed, and remembers no failure', async () => {
    const { watch, asked, answer, fail } = watched()
    const failed = watch.now()
    fail(new StorageFailure('storage_unavailable'))
    await assert.rejects(async () => await failed, StorageFailure)
    const again = watch.now()
    assert.equal(asked(), 2)
    answer(undefined)
    assert.equal(await again, undefined)
  })

  it('is not set back by an earlier question that is answered later', async () => {
    const { watch, move, answer, first, noticed } = watched()
    const slow = watch.now()
    move(maintenanceNoticeMs)
    const quick = watch.now()
    answer(on)
    assert.equal(await quick, on)
    first()?.resolve(undefined)
    assert.equal(await slow, on)
    assert.equal(watch.now(), on)
    assert.deepEqual(noticed, [on])
  })

  it('reports its beginning and its end, once each', async () => {
    const { watch, move, answer, noticed } = watched()
    for (const maintenance of [undefined, on, { ...on, retryAfterSeconds: 60 }, undefined, undefined]) {
      const asked = watch.now()
      answer(maintenance)
      await asked
      move(maintenanceNoticeMs)
    }
    assert.deepEqual(noticed, [on, undefined])
  })
})
