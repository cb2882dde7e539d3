/**
 * What a node has shown once, its lists show too, although they are answered from memory where they can be. Another process
 * appends here, whose commits can be read at once and are told of later or not at all: a commit of the node itself is such a
 * one between being visible and being counted.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { createPageRangeCache } from '../../src/reading/page-range-cache.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import type { EventStore } from '../../src/events/event-log.ts'
import type { FeedKey } from '../../src/events/feed-key.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { withClient } from '../postgres/support/standby.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { batch, draft, feedKey, uuid } from '../store/support/drafts.ts'
import { headOf, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

type Shown = (events: EventStore, key: FeedKey, name: string) => Promise<unknown>

/** Every way to be shown that an event is there. */
const ways: Readonly<Record<string, Shown>> = {
  'the head': (events, key) => events.head(key),
  'a list': (events, key) => events.locate({ key, view: 'all' }),
  'a list of another view': (events, key) => events.locate({ key, view: 'lettings' }),
  'a window': (events, key) => events.locate({ key, view: 'all', from: 0n }),
  'the event': (events, key, name) => events.readEvent(key, uuid(name)),
  'a run': (events, key) => events.readAfter({ key, view: 'all', after: 0, limit: 100, latestOnly: false }),
  'its subject': (events, key, name) => events.readLatest(key, uuid(name)),
  'a history': (events, key, name) =>
    events.readSubject({ key, subjectId: uuid(name), after: 0, limit: 100 }),
  'the receipt of a repeat': (events, _key, name) =>
    events.append([batch([name, 'the head'].map((id) => draft({ subject: id, id })))]),
  'a dry run of a repeat': (events, _key, name) =>
    events.preview(batch([draft({ subject: name, id: name }), draft({ subject: 'somebody new' })])),
  'a dry run of what is unchanged': (events, _key, name) =>
    events.preview(batch([draft({ subject: name })], { unchanged: 'skip' })),
}

interface Node {
  readonly name: string
  readonly own: StorageEngine
  /** In place of another process. */
  readonly other: StorageEngine
}

/** An address by which a node's messages to others come to nothing: it finds a `pg_notify` before PostgreSQL's own. */
async function silenced(url: string): Promise<string> {
  await withClient(url, (client) =>
    client.query(`CREATE FUNCTION pg_notify(text, text) RETURNS void LANGUAGE sql AS ''`),
  )
  const [, schema = ''] = /search_path%3D(\w+)/.exec(url) ?? []
  assert.notEqual(schema, '', url)
  return url.replace(schema, encodeURIComponent(`${schema},pg_catalog`))
}

describe('a list from memory', () => {
  const folder = temporaryFolder()
  const opened: StorageEngine[] = []
  after(async () => {
    for (const storage of opened.toReversed()) await storage.close()
    folder[Symbol.dispose]()
  })

  async function openNode(
    name: string,
    options: Parameters<typeof openStorage>[0],
    ofOther: () => Promise<Parameters<typeof openStorage>[0]>,
  ): Promise<Node> {
    const own = await withTenants(await openStorage(options))
    const other = await openStorage({ ...(await ofOther()), create: false })
    opened.push(own, other)
    return { name, own, other }
  }

  async function openNodes(): Promise<readonly Node[]> {
    const url = await (await sharedDatabases()).create()
    const made = { create: true, catalogue: catalogues.default } as const
    const sqlite = { kind: 'sqlite', folder: folder.path, ...made } as const
    const postgres = { kind: 'postgres', url, readConnections: 2, ...made } as const
    return [
      await openNode('sqlite', sqlite, async () => sqlite),
      await openNode('postgres', postgres, async () => ({ ...postgres, url: await silenced(url) })),
    ]
  }

  it('is never behind what the node has shown in any other way (P8)', async () => {
    for (const { name: engine, own, other } of await openNodes()) {
      const key = feedKey()
      let untold = 0
      const ranges = createPageRangeCache(own.events, () => 0)
      for (const [way, show] of Object.entries(ways)) {
        await ranges.locate({ key, view: 'all' })
        await ranges.locate({ key, view: 'sales' })
        const [receipt] = await publish(other, [draft({ subject: way, id: way })])
        const number = receipt?.stored?.sequenceNumber ?? 0
        if (ranges.known({ key, view: 'all' }) !== undefined) untold += 1
        assert.ok(await show(own.events, key, way))
        for (const view of ['all', 'sales'] as const) {
          const head = (ranges.known({ key, view }) ?? (await ranges.locate({ key, view })))?.head
          assert.equal(head?.sequenceNumber, number, `${engine}: ${view} after ${way}`)
        }
      }
      const publications = Object.keys(ways).length
      assert.equal((await headOf(own)).position, publications)
      // Each node takes everything for changed once, when it begins to listen.
      assert.ok(untold > publications / 2, `${engine}: ${untold} of ${publications} came without a word`)
    }
  })
})
