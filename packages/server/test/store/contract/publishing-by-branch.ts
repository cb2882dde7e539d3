/** Publishers that are limited to branches, and properties that are moved from one branch to another (D11, D23). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { AppendOutcome, EventDraft } from '../../../src/events/append/append-batch.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { batch, draft, feedKey, removal, uuid } from '../support/drafts.ts'
import { codes, headOf, list, numbers, parseEvent, publish } from '../support/read-back.ts'
import { withTenants } from '../support/stores.ts'
import type { StoreFactory } from '../support/stores.ts'

/** As a publisher of these branches. */
async function publishAs(
  store: StorageEngine,
  branches: readonly string[],
  drafts: readonly EventDraft[],
): Promise<AppendOutcome> {
  const asked = { ...batch(drafts), branches }
  const previewed = await store.events.preview(asked)
  const [outcome] = await store.events.append([asked])
  assert.ok(outcome !== undefined)
  assert.equal(previewed.kind, outcome.kind, 'a dry run says the same')
  return outcome
}

const notGranted = (index: number, of: 'payload' | 'subject') => ({ kind: 'branchNotGranted', index, of })

function moved(name: string, from: string, to: string): EventDraft {
  return { ...draft({ subject: name }), content: { kind: 'moved', from, to } }
}

export function publishingByBranchContract(factory: StoreFactory): void {
  describe('publishing by branch', () => refusalCases(factory))
  describe('moving between branches', () => movingCases(factory))
  describe('reading by branch', () => readingCases(factory))
}

function refusalCases(factory: StoreFactory): void {
  it('accepts events of a granted branch, and refuses payloads of another one or of none (D11)', async () => {
    await using store = await withTenants(await factory.create())
    const mine = draft({ subject: 'mine', branch: 'A' })
    assert.equal((await publishAs(store, ['A', 'B'], [mine])).kind, 'stored')
    const head = await headOf(store)
    for (const other of [{ branch: 'C' }, { branch: 'a' }, {}, { branch: '' }]) {
      const drafts = [draft({ subject: 'more', branch: 'B' }), draft({ subject: 'new', ...other })]
      assert.deepEqual(await publishAs(store, ['A', 'B'], drafts), notGranted(1, 'payload'))
    }
    assert.deepEqual(await headOf(store), head, 'nothing of a refused request is stored')
  })

  it('changes no property in another branch, in none, or that has moved there (D11)', async () => {
    await using store = await withTenants(await factory.create())
    await publish(store, [
      draft({ subject: 'theirs', branch: 'C' }),
      draft({ subject: 'nobodys' }),
      draft({ subject: 'left', branch: 'A' }),
      draft({ subject: 'left', branch: 'C' }),
      draft({ subject: 'removed', branch: 'C' }),
      removal({ subject: 'removed' }),
    ])
    const head = await headOf(store)
    for (const name of ['theirs', 'nobodys', 'left', 'removed']) {
      const taken = draft({ subject: name, branch: 'A' })
      assert.deepEqual(await publishAs(store, ['A'], [taken]), notGranted(0, 'subject'), name)
      assert.deepEqual(
        await publishAs(store, ['A'], [removal({ subject: name })]),
        notGranted(0, 'subject'),
        name,
      )
    }
    const unknown = await publishAs(store, ['A'], [removal({ subject: 'unknown' })])
    assert.equal(unknown.kind, 'unknownSubject')
    assert.deepEqual(await headOf(store), head)
  })

  it('removes and moves its own, and finds its repeats wherever the property is now (D11, D14, D23)', async () => {
    await using store = await withTenants(await factory.create())
    const first = draft({ subject: 'p', id: 'one', branch: 'A' })
    const removed = removal({ subject: 'p', id: 'two' })
    const away = draft({ subject: 'p', id: 'three', branch: 'B' })
    assert.equal((await publishAs(store, ['A'], [first])).kind, 'stored')
    assert.equal((await publishAs(store, ['A'], [removed])).kind, 'stored')
    assert.equal((await publishAs(store, ['A', 'B'], [away])).kind, 'stored')
    for (const again of [first, removed]) {
      const outcome = await publishAs(store, ['A'], [again])
      assert.ok(outcome.kind === 'stored')
      assert.equal(outcome.events[0]?.status, 'repeated')
    }
    // Who has learnt the id of a removal is told no number of another branch.
    assert.deepEqual(await publishAs(store, ['B'], [removed]), notGranted(0, 'subject'))
  })

  it('decides under the lock: of two that race for a property, the second finds what the first made (D11)', async () => {
    await using store = await withTenants(await factory.create())
    for (let round = 0; round < 6; round += 1) {
      const name = `raced ${round}`
      await publish(store, [draft({ subject: name, branch: 'A' })])
      const [leaving, staying] = await Promise.all([
        store.events.append([batch([draft({ subject: name, branch: 'B' })])]),
        store.events.append([
          { ...batch([draft({ subject: name, branch: 'A', text: 'x' })]), branches: ['A'] },
        ]),
      ])
      assert.equal(leaving[0]?.kind, 'stored')
      const history = await store.events.readSubject({
        key: feedKey(),
        subjectId: uuid(name),
        after: 0,
        limit: 10,
      })
      const branches = history.map(({ json }) => JSON.parse(parseEvent(json).payload).branch_id)
      // It came before the property left, or was refused: never did it bring it back.
      const expected = staying[0]?.kind === 'stored' ? ['A', 'A', 'A', 'B'] : ['A', 'A', 'B']
      assert.deepEqual(branches, expected)
      assert.equal(branches.at(-1), 'B')
    }
  })
}

function movingCases(factory: StoreFactory): void {
  it('records in one commit that a property has left one branch and is in the other, and keeps the rest of it (D23)', async () => {
    await using store = await withTenants(await factory.create())
    await publish(store, [draft({ subject: 'p', branch: 'A', text: 'as it was', category: 'lettings' })])
    const lines = await publish(store, [moved('p', 'A', 'B "upper"')], { unchanged: 'skip' })
    assert.deepEqual(codes(lines), ['PropertyUnpublished', 'PropertyPublished'])
    const [before, left, arrived] = await list(store)
    assert.ok(before !== undefined && left !== undefined && arrived !== undefined)
    const payload = JSON.parse(before.payload)
    assert.deepEqual(JSON.parse(left.payload), { ...payload, published: false })
    assert.deepEqual(JSON.parse(arrived.payload), { ...payload, branch_id: 'B "upper"' })
    assert.deepEqual(numbers(await list(store, { view: 'lettings' })), [1, 2, 3])
    // What is published again of it as it stands there is no change.
    const same = draft({ subject: 'p', branch: 'B "upper"', text: 'as it was', category: 'lettings' })
    const content = { ...same.content, text: arrived.payload, hash: sha256(arrived.payload) }
    const [again] = await publish(store, [{ ...same, content }], { unchanged: 'skip' })
    assert.equal(again?.status, 'unchanged')
  })

  it('moves nothing that is not published, or not in that branch (any more) (D23)', async () => {
    await using store = await withTenants(await factory.create())
    await publish(store, [
      draft({ subject: 'other', branch: 'C' }),
      draft({ subject: 'gone', branch: 'A' }),
      removal({ subject: 'gone' }),
      draft({ subject: 'p', branch: 'A' }),
    ])
    const head = (await headOf(store)).sequenceNumber
    const drafts = ['other', 'gone', 'p', 'p'].map((name) => moved(name, 'A', 'B'))
    const lines = await publish(store, drafts, { unchanged: 'skip' })
    assert.deepEqual(
      lines.map(({ status }) => status),
      ['unchanged', 'unchanged', 'derived', 'appended', 'unchanged'],
    )
    assert.equal((await headOf(store)).sequenceNumber, head + 2)
  })
}

function readingCases(factory: StoreFactory): void {
  it('gives an event, the latest and the history of a property as far as they are in the branches (D11)', async () => {
    await using store = await withTenants(await factory.create())
    await publish(store, [
      draft({ subject: 'p', branch: 'A' }),
      draft({ subject: 'p', branch: 'B' }),
      draft({ subject: 'p', branch: 'B', text: 'changed' }),
      draft({ subject: 'none' }),
    ])
    // 1 is of A, 2 takes it from there; 3 and 4 are of B.
    const { events } = store
    const all = await list(store)
    const seen = async (branches: readonly string[]) => {
      const found = await Promise.all(all.map(({ id }) => events.readEvent(feedKey(), id, branches)))
      const query = { key: feedKey(), subjectId: uuid('p'), after: 0, limit: 10, branches }
      const history = numbers(await events.readSubject(query))
      const latest = (await events.readLatest(feedKey(), uuid('p'), branches))?.sequenceNumber
      return [numbers(found.filter((event) => event !== undefined)), history, latest]
    }
    assert.deepEqual(await seen(['A']), [[1, 2], [1, 2], 2])
    assert.deepEqual(await seen(['B', 'x']), [[3, 4], [3, 4], 4])
    assert.deepEqual(await seen(['A', 'B']), [[1, 2, 3, 4], [1, 2, 3, 4], 4])
    assert.deepEqual(await seen(['a', 'x', '']), [[], [], undefined])
    assert.equal(await events.readLatest(feedKey(), uuid('none'), ['A']), undefined)
    const upTo = async (number: number, branches: readonly string[]) =>
      (await events.readLatest(feedKey(), uuid('p'), branches, number))?.sequenceNumber
    assert.deepEqual(
      [await upTo(1, ['A']), await upTo(3, ['A']), await upTo(2, ['B']), await upTo(3, ['B'])],
      [1, 2, undefined, 3],
    )
    const limited = { key: feedKey(), subjectId: uuid('p'), branches: ['B'] }
    assert.deepEqual(numbers(await events.readSubject({ ...limited, after: 0, limit: 1 })), [3])
    assert.deepEqual(numbers(await events.readSubject({ ...limited, after: 3, limit: 1 })), [4])
  })
}

function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest())
}
