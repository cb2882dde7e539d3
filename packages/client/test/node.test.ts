import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CheckpointError } from '../src/index.ts'
import { fileCheckpoint } from '../src/node.ts'
import { newCheckpoint } from '../src/sync/checkpoint.ts'

describe('a checkpoint in a file', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'property-events-client-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('comes back as it was saved, and leaves nothing else behind', async () => {
    const store = fileCheckpoint(join(folder, 'a.json'))
    assert.equal(await store.load(), undefined)
    const checkpoint = newCheckpoint({ feed: 'property', apiEventType: null })
    for (const number of [1, 2]) {
      const changed = { ...checkpoint, pending: { subject: number } }
      await store.save?.(changed)
      assert.deepEqual(await store.load(), changed)
    }
    assert.deepEqual(await readdir(folder), ['a.json'])
  })

  it('is the last one that was saved whole, whatever a crash left next to it', async () => {
    const path = join(folder, 'b.json')
    const store = fileCheckpoint(path)
    const checkpoint = newCheckpoint({ feed: 'property', apiEventType: null })
    await store.save?.(checkpoint)
    await writeFile(`${path}.new`, '{"half')
    assert.deepEqual(await store.load(), checkpoint)
    await store.save?.({ ...checkpoint, tenantId: 't' })
    assert.deepEqual(await store.load(), { ...checkpoint, tenantId: 't' })
  })

  it('is refused with a sentence when it is not one', async () => {
    const path = join(folder, 'c.json')
    await writeFile(path, 'not json')
    await assert.rejects(async () => fileCheckpoint(path).load(), CheckpointError)
  })
})
