/** Bits that change on the disk: what was changed is refused, whatever verb asks for it, and all else is served. */
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { checkEvents, openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, feedKey, removal, tenantA, uuid } from './support/drafts.ts'
import { located, publish } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const filler = 'lorem ipsum '.repeat(100)
const damagedAt = 117
const nameAt = (position: number): string => `flip-me-${String(position).padStart(4, '0')}`

const open = (folder: string): Promise<StorageEngine> =>
  openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })

/** A closed store of 150 events, each of a property and with an id of its own. */
async function fillStore(folder: string): Promise<void> {
  await using store = await withTenants(await open(folder))
  for (let position = 1; position <= 150; position += 50) {
    const drafts = Array.from({ length: 50 }, (_, index) => {
      const name = nameAt(position + index)
      return draft({ subject: name, id: name, text: `${name} ${filler}` })
    })
    await publish(store, drafts)
  }
}

/** Changes one bit of the one place in the store's file that holds `text`. */
function flipBit(folder: string, text: string): void {
  const path = join(folder, 'property-events.db')
  const bytes = readFileSync(path)
  const at = bytes.indexOf(text)
  assert.ok(at > 0 && bytes.indexOf(text, at + 1) === -1, `${text} stands once in the file`)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at)
  closeSync(file)
}

const refusedAsDamaged = (reading: Promise<unknown>): Promise<void> =>
  assert.rejects(reading, (error: Error & { code?: string }) => {
    assert.deepEqual([error.name, error.code], ['StorageFailure', 'storage_damaged'])
    assert.match(String(error.cause), new RegExp(`position ${damagedAt} `))
    return true
  })

describe('an event with a flipped bit on the disk (P9)', () => {
  const folder = temporaryFolder()
  let store: StorageEngine
  before(async () => {
    await fillStore(folder.path)
    flipBit(folder.path, nameAt(damagedAt))
    store = await open(folder.path)
  })
  after(async () => {
    await store.close()
    folder[Symbol.dispose]()
  })
  const readRange = async (view: 'all' | 'sales', first: number, count: number): Promise<unknown> => {
    const { range } = await located(store, { view })
    return store.events.readRange({ ...range, first, count })
  }
  const readAfter = (view: 'all' | 'sales', after: number, latestOnly = false): Promise<unknown> =>
    store.events.readAfter({ key: feedKey(), view, after, limit: 10, latestOnly })

  it('is in no page, whatever the view', async () => {
    for (const view of ['all', 'sales'] as const) {
      await refusedAsDamaged(readRange(view, 1, 150))
      await refusedAsDamaged(readRange(view, damagedAt, 1))
      await readRange(view, 1, damagedAt - 1)
      await readRange(view, damagedAt + 1, 30)
    }
  })

  it('is in no run and no snapshot', async () => {
    for (const view of ['all', 'sales'] as const) {
      await refusedAsDamaged(readAfter(view, damagedAt - 5))
      await refusedAsDamaged(readAfter(view, damagedAt - 5, true))
      await readAfter(view, damagedAt)
    }
  })

  it('is not answered by its id, nor as the latest or the history of its property', async () => {
    const name = nameAt(damagedAt)
    await refusedAsDamaged(store.events.readEvent(feedKey(), uuid(name)))
    await refusedAsDamaged(store.events.readLatest(feedKey(), uuid(name)))
    const history = { key: feedKey(), subjectId: uuid(name), after: 0, limit: 10 }
    await refusedAsDamaged(store.events.readSubject(history))
    assert.ok(await store.events.readEvent(feedKey(), uuid(nameAt(damagedAt - 1))))
  })

  it('is not copied into another store', async () => {
    await refusedAsDamaged(store.events.readEvent(feedKey(), uuid(nameAt(damagedAt))))
    await refusedAsDamaged(
      store.exportRecords(
        () => 0,
        async () => undefined,
      ),
    )
  })

  it('does not become the payload of a removal, and the property can still be published again', async () => {
    const name = nameAt(damagedAt)
    await refusedAsDamaged(publish(store, [removal({ subject: name })]))
    await publish(store, [draft({ subject: name, text: 'whole again' })])
    await publish(store, [removal({ subject: name })])
  })
})

describe('a check of every event', () => {
  it('names the damaged ones and their place, and finds nothing in a whole store (P9)', async () => {
    using folder = temporaryFolder()
    await fillStore(folder.path)
    const none = { events: 150, damaged: 0, examples: [], cutOff: undefined }
    assert.deepEqual(
      checkEvents(folder.path, () => undefined),
      none,
    )
    for (const position of [3, damagedAt]) flipBit(folder.path, nameAt(position))
    const found = checkEvents(folder.path, () => undefined)
    const place = { tenantId: tenantA, feed: 'property' }
    assert.deepEqual(found, {
      ...none,
      damaged: 2,
      examples: [
        { ...place, position: 3 },
        { ...place, position: damagedAt },
      ],
    })
  })
})
