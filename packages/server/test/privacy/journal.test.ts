/** The list of erasures outside the store (D17). */
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { uuidV7 } from '@property-events/protocol'
import { unreported } from '../../src/runtime/background-task.ts'
import { carryOutErasures } from '../../src/privacy/erasure/worker.ts'
import { openErasureList, readErasureList } from '../../src/index.ts'
import type { ListedErasure } from '../../src/index.ts'
import { draft } from '../store/support/drafts.ts'
import { begin, erase, reduceAll, subject } from '../store/support/erasing.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

function listed(kind: 'subject' | 'event' = 'subject'): ListedErasure {
  const id = crypto.randomUUID()
  return {
    erasureId: uuidV7(Date.now()),
    key: { tenantId: crypto.randomUUID(), feed: kind === 'subject' ? 'contact' : 'property' },
    target: kind === 'subject' ? { kind, subjectId: id } : { kind, eventId: id },
    begunMs: Date.parse('2026-01-31T10:00:00.123Z'),
  }
}

describe('a list of erasures', () => {
  let folder = ''
  let path = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'property-events-list-'))
    path = join(folder, 'erasures')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is readable by its owner alone, and returns what was noted, each once (D17)', async () => {
    const [one, two, three] = [listed(), listed('event'), listed()]
    const list = await openErasureList(path)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await Promise.all([list.note([one]), list.note([one, two]), list.note([])])
    await list.close()
    const again = await openErasureList(path)
    assert.deepEqual(again.listed, [one, two])
    await again.note([two, three])
    await again.close()
    assert.deepEqual(await readErasureList(path), [one, two, three])
    assert.equal((await readFile(path, 'utf8')).split('\n').length, 5)
  })

  it('skips a line that a crash has cut off, anywhere, and continues after it (D17)', async () => {
    const [one, two] = [listed('event'), listed()]
    const first = await openErasureList(path)
    await first.note([one])
    await first.close()
    const whole = await readFile(path, 'utf8')
    for (let length = 0; length < whole.length; length += 1) {
      await writeFile(path, whole.slice(0, length))
      const list = await openErasureList(path)
      await list.note([one, two])
      await list.close()
      assert.deepEqual(await readErasureList(path), [one, two], `after ${length} bytes`)
    }
  })

  it('of two nodes that write to one file is read as one (D17)', async () => {
    const [one, two, three] = [listed(), listed(), listed()]
    const lists = [await openErasureList(path), await openErasureList(path)]
    await lists[0]?.note([one])
    await lists[1]?.note([one, two])
    await lists[0]?.note([three])
    for (const list of lists) await list.close()
    assert.deepEqual(await readErasureList(path), [one, two, three])
  })

  it('is refused if it is another file, or was changed (D18)', async () => {
    const message = /erasures/
    const list = await openErasureList(path)
    await list.note([listed()])
    await list.close()
    const whole = await readFile(path, 'utf8')
    const faults = [
      'id,reference\n',
      whole.replace('contact', 'contacts'),
      whole.replace(' 2026-', ' 20x6-'),
      whole.replace('2026-01-31', '2026-13-31'),
      `${whole}and more\n`,
      whole.replace(' subject ', ' '),
    ]
    for (const text of faults) {
      await writeFile(path, text)
      await assert.rejects(readErasureList(path), { name: 'ErasureListFault', message }, text)
      await assert.rejects(openErasureList(path), { name: 'ErasureListFault', message })
      assert.equal(await readFile(path, 'utf8'), text, 'and left as it was')
    }
    await assert.rejects(readErasureList(join(folder, 'none')), { code: 'ENOENT' })
  })

  it('that was moved away accepts nothing more, and does not say that it did (D17)', async () => {
    const list = await openErasureList(path)
    await rename(path, `${path}.old`)
    await assert.rejects(list.note([listed()]), { name: 'ErasureListFault' })
    await appendFile(path, 'property-events erasures 1\n')
    await assert.rejects(list.note([listed()]), { name: 'ErasureListFault' })
    await list.close()
  })
})

describe('a node that is given a list', () => {
  it('writes down what its store has erased before (D17)', async () => {
    await using store = await withTenants(await temporaryStore())
    await publish(store, [draft({ subject: 'p' })])
    const { erasureId } = await erase(store, subject('p'))
    const noted: string[] = []
    const erasureList = {
      listed: [],
      note: async (erasures: readonly ListedErasure[]) =>
        void noted.push(...erasures.map((one) => one.erasureId)),
      close: async () => undefined,
    }
    const nothing = async () => undefined
    const parts = { storage: store, nodeId: 'a', forget: nothing, compare: nothing, report: unreported }
    const erasing = carryOutErasures({ ...parts, list: erasureList })
    await until(() => noted.length > 0)
    await erasing.close()
    assert.deepEqual(noted, [erasureId])
  })

  it('records what was erased while it was cut off from the store, or stood still (D17)', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    await using store = await withTenants(await temporaryStore())
    await publish(store, [draft({ subject: 'p' }), draft({ subject: 'q' })])
    const noted = new Set<string>()
    const list = {
      listed: [],
      note: async (erasures: readonly ListedErasure[]) => erasures.forEach((one) => noted.add(one.erasureId)),
      close: async () => undefined,
    }
    let [isAway, looks, compared] = [false, 0, 0]
    // It sees none of those that are open: others have ended them.
    const open = async () => {
      looks += 1
      if (isAway) throw new Error('no way to the store')
      return []
    }
    const storage = { ...store, erasures: { ...store.erasures, open } }
    const nothing = async () => undefined
    const compare = async () => void (compared += 1)
    const parts = { storage, nodeId: 'a', forget: nothing, compare, report: unreported, list }
    const erasing = carryOutErasures(parts)
    try {
      await until(() => looks === 2)
      assert.equal(compared, 1, 'once where all goes well')
      isAway = true
      const first = await erase(store, subject('p'))
      await until(() => looks > 2)
      isAway = false
      await until(() => noted.has(first.erasureId))
      const before = compared
      const second = await erase(store, subject('q'))
      context.mock.timers.tick(40_000)
      await until(() => noted.has(second.erasureId))
      assert.ok(compared > before)
    } finally {
      await erasing.close()
    }
  })

  it('says of no erasure that its node has forgotten while the list cannot be written (D17)', async () => {
    await using store = await withTenants(await temporaryStore())
    await publish(store, [draft({ subject: 'p' })])
    const { erasureId } = await begin(store, subject('p'))
    await reduceAll(store, erasureId)
    let notes = 0
    const list = {
      listed: [],
      note: async () => {
        notes += 1
        throw new Error('the disk is full')
      },
      close: async () => undefined,
    }
    const nothing = async () => undefined
    const parts = { storage: store, nodeId: 'a', forget: nothing, compare: nothing, report: unreported }
    const erasing = carryOutErasures({ ...parts, list })
    await until(() => notes > 0)
    // Ends once the look under way has.
    await erasing.close()
    assert.deepEqual(
      (await store.erasures.open()).map((one) => [one.erasureId, one.acknowledgedBy]),
      [[erasureId, []]],
    )
  })
})
