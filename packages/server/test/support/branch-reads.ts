/** Every read of properties with a key that is limited to branches, beside the model of the feed (D11). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { feeds, versionChanges } from '@property-events/protocol'
import type { FeedModel, Item, ModelEvent, ModelView } from './branch-model.ts'
import { modelViews } from './branch-model.ts'
import { openStream } from './event-stream.ts'
import { call, pageOf } from './http-client.ts'
import type { Answer } from './http-client.ts'
import type { TestService } from './test-service.ts'

const { eventsPath, publishPath, subjectsPath } = feeds.property

export interface BranchReader {
  readonly service: Pick<TestService, 'port'>
  readonly model: FeedModel
  readonly key: string
  readonly branches: readonly string[]
}

const itemsOf = (events: readonly ModelEvent[]): readonly Item[] => events.map(({ item }) => item)
const numbersOf = (items: readonly Item[]) => items.map(({ sequenceNumber }) => sequenceNumber)

async function ask({ service, key }: BranchReader, path: string, status = 200): Promise<Answer> {
  const answer = await call(service, path, { key })
  assert.equal(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`)
  return answer
}

/** Each route that reads, as a whole, while nothing is published. The model has caught up. */
export async function checkEveryRead(reader: BranchReader): Promise<void> {
  for (const view of modelViews) {
    await checkPages(reader, view)
    await checkWindow(reader, view)
    await checkCurrent(reader, view)
    await checkRuns(reader, view)
    await checkSnapshot(reader, view)
    await checkStream(reader, view)
    await checkDigest(reader, view)
  }
  await checkSingles(reader)
  await checkReduced(reader)
  await checkHeads(reader)
}

async function checkPages(reader: BranchReader, view: ModelView): Promise<void> {
  const expected = itemsOf(reader.model.of(reader.branches, view))
  const pageSize = 7
  const pages = Math.ceil(expected.length / pageSize)
  for (let page = 1; page <= pages + 1; page += 1) {
    const path = `${eventsPath}/getevents?apiEventType=${view}&page=${page}&pageSize=${pageSize}`
    const answer = await ask(reader, path)
    const items = expected.slice((page - 1) * pageSize, page * pageSize)
    assert.deepEqual(pageOf(answer), {
      items,
      page,
      pageSize,
      availableCount: expected.length,
      totalPages: pages,
    })
    const again = await call(reader.service, path, {
      key: reader.key,
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    assert.equal(again.status, 304)
  }
  const whole = pageOf(await ask(reader, `${eventsPath}/getevents?apiEventType=${view}&pageSize=1000`))
  assert.deepEqual(whole.items, expected.slice(0, 1000))
}

async function checkWindow(reader: BranchReader, view: ModelView): Promise<void> {
  const times = reader.model.events.map(({ item }) => item.createdDate)
  const [from, to] = [
    times[Math.floor(times.length / 3)] ?? '',
    times[Math.floor((2 * times.length) / 3)] ?? '',
  ]
  const path = `${eventsPath}/getevents?apiEventType=${view}&pageSize=1000&from=${from}&to=${to}`
  const expected = itemsOf(reader.model.of(reader.branches, view)).filter(
    ({ createdDate }) => createdDate >= from && createdDate <= to,
  )
  const page = pageOf(await ask(reader, path))
  assert.deepEqual(page.items, expected.slice(0, 1000))
  assert.equal(page.availableCount, expected.length)
}

async function checkCurrent(reader: BranchReader, view: ModelView): Promise<void> {
  const expected = itemsOf(reader.model.latestOf(reader.branches, view))
  const found: Item[] = []
  const pages = Math.max(1, Math.ceil(expected.length / 5))
  for (let page = 1; page <= pages; page += 1) {
    const path = `${eventsPath}/getevents?current=true&apiEventType=${view}&pageSize=5&page=${page}`
    const { items, availableCount } = pageOf(await ask(reader, path))
    assert.equal(availableCount, expected.length, `current ${view}`)
    found.push(...items)
  }
  assert.deepEqual(numbersOf(found), numbersOf(expected), `current ${view}`)
  assert.deepEqual(found, expected)
}

interface Run {
  readonly items: readonly Item[]
  readonly next: number
  readonly head: number
}

async function checkRuns(reader: BranchReader, view: ModelView): Promise<void> {
  const found: Item[] = []
  for (let after = 0; ;) {
    const path = `${publishPath}?apiEventType=${view}&limit=9&after=${after}`
    const run: Run = JSON.parse((await ask(reader, path)).text)
    assert.ok(run.items.length <= 9)
    found.push(...run.items)
    if (run.next >= run.head) break
    after = run.next
  }
  assert.deepEqual(found, itemsOf(reader.model.of(reader.branches, view)))
  const waited: Run = JSON.parse(
    (await ask(reader, `${publishPath}?apiEventType=${view}&after=0&wait=1`)).text,
  )
  assert.deepEqual(waited.items, found.slice(0, waited.items.length))
}

async function checkSnapshot(reader: BranchReader, view: ModelView): Promise<void> {
  const { text } = await ask(reader, `${publishPath}/snapshot?apiEventType=${view}`)
  const lines = text.trimEnd().split('\n')
  const end: { end: true; events: number } = JSON.parse(lines.pop() ?? '')
  const expected = itemsOf(reader.model.latestOf(reader.branches, view))
  assert.deepEqual(
    lines.map((line): Item => JSON.parse(line)),
    expected,
    `snapshot of ${view}`,
  )
  assert.deepEqual([end.end, end.events], [true, expected.length])
}

async function checkStream(reader: BranchReader, view: ModelView): Promise<void> {
  const expected = itemsOf(reader.model.of(reader.branches, view))
  const path = `${publishPath}/stream?after=0&apiEventType=${view}`
  const stream = await openStream(reader.service, path, { key: reader.key })
  await stream.until(({ numbers }) => numbers().length >= expected.length, `the stream of ${view}`)
  stream.close()
  assert.deepEqual(stream.numbers(), numbersOf(expected))
}

/** As PROTOCOL §14.3 says it, of the fold of what the key reads. */
async function checkDigest(reader: BranchReader, view: ModelView): Promise<void> {
  const shown = new Map<string, number>()
  for (const { subjectId, item } of reader.model.of(reader.branches, view)) {
    if (item.eventTypeShortCode === 'PropertyUnpublished') shown.delete(subjectId)
    else shown.set(subjectId, item.sequenceNumber)
  }
  const lines = [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1)).map((one) => `${one.join(' ')}\n`)
  const answer = await ask(reader, `${publishPath}/digest?apiEventType=${view}`)
  const { count, digest }: { count: number; digest: string } = JSON.parse(answer.text)
  const expected = createHash('sha256').update(lines.join('')).digest('hex')
  assert.deepEqual([count, digest], [shown.size, expected], `the digest of ${view}`)
}

/** By id, the latest and the history of each subject: of other branches as of none at all. */
async function checkSingles(reader: BranchReader): Promise<void> {
  const { model, branches } = reader
  const own = new Set(model.of(branches).map(({ item }) => item.id))
  for (const { item } of model.events) {
    const seen = own.has(item.id)
    const answer = await ask(reader, `${eventsPath}/geteventbyid/${item.id}`, seen ? 200 : 404)
    if (seen) assert.deepEqual(JSON.parse(answer.text), item)
  }
  for (const subjectId of new Set(model.events.map((event) => event.subjectId))) {
    const history = itemsOf(model.of(branches).filter((event) => event.subjectId === subjectId))
    const status = history.length > 0 ? 200 : 404
    const latest = await ask(reader, `${subjectsPath}/${subjectId}`, status)
    const whole = await ask(reader, `${subjectsPath}/${subjectId}/history`, status)
    if (status === 404) continue
    assert.deepEqual(JSON.parse(latest.text), history.at(-1))
    const run: Run = JSON.parse(whole.text)
    assert.deepEqual(run.items, history.slice(0, 1000))
    const after = history.at(-3)?.sequenceNumber ?? 0
    const changed = await ask(reader, `${subjectsPath}/${subjectId}/history?changes=true&after=${after}`)
    const since = history.findIndex(({ sequenceNumber }) => sequenceNumber > after)
    const expected = history.slice(since).map((item, index) => {
      const before = history[since + index - 1]?.payload
      return { ...item, ...versionChanges(before, item.payload) }
    })
    assert.deepEqual(JSON.parse(changed.text).items, expected, 'with changes')
  }
}

async function checkReduced(reader: BranchReader): Promise<void> {
  const reduced = reader.model
    .of(reader.branches)
    .filter(({ item }) => item.payload.includes('"erased":true'))
  const answer: { items: readonly { sequenceNumbers: readonly number[] }[] } = JSON.parse(
    (await ask(reader, `${publishPath}/reduced`)).text,
  )
  const expected = numbersOf(itemsOf(reduced)).filter((number) => !reader.model.closing.has(number))
  const told = answer.items.flatMap(({ sequenceNumbers }) => sequenceNumbers)
  assert.deepEqual(
    told.toSorted((one, other) => one - other),
    expected,
  )
}

async function checkHeads(reader: BranchReader): Promise<void> {
  const last = reader.model.of(reader.branches).at(-1)?.item
  const { heads }: { heads: readonly { sequenceNumber: number; createdDate: string | null }[] } = JSON.parse(
    (await ask(reader, '/v1/heads')).text,
  )
  assert.deepEqual(
    heads.map(({ sequenceNumber, createdDate }) => ({ sequenceNumber, createdDate })),
    [{ sequenceNumber: last?.sequenceNumber ?? 0, createdDate: last?.createdDate ?? null }],
  )
}

/** What was read while others published, to be held against the feed once it is whole. */
export interface SeenPart {
  readonly what: string
  readonly check: (model: FeedModel) => void
}

/** One read of each kind that can be held against the feed later: a page, a run, a snapshot and what comes after it. */
export async function readParts(
  reader: BranchReader,
  random: (below: number) => number,
): Promise<readonly SeenPart[]> {
  const view = modelViews[random(modelViews.length)] ?? 'property'
  const { branches } = reader
  const page = 1 + random(8)
  const listed = pageOf(
    await ask(reader, `${eventsPath}/getevents?apiEventType=${view}&pageSize=5&page=${page}`),
  )
  const after = random(80)
  const run: Run = await (async () => {
    const answer = await call(
      reader.service,
      `${publishPath}?apiEventType=${view}&limit=6&after=${after}`,
      reader,
    )
    // The number lies beyond a feed that is not that long yet.
    if (answer.status === 409) return { items: [], next: after, head: after }
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text)
  })()
  const lines = (await ask(reader, `${publishPath}/snapshot?apiEventType=${view}`)).text.trimEnd().split('\n')
  const { head }: { head: number } = JSON.parse(lines.pop() ?? '')
  const shown = lines.map((line): Item => JSON.parse(line))
  return [
    {
      what: `page ${page} of ${view}`,
      check(model) {
        const known = itemsOf(model.of(branches, view)).slice(0, listed.availableCount)
        assert.equal(known.length, listed.availableCount)
        assert.deepEqual(listed.items, known.slice((page - 1) * 5, page * 5))
      },
    },
    {
      what: `${view} after ${after}`,
      check(model) {
        const expected = itemsOf(model.of(branches, view)).filter(
          ({ sequenceNumber }) => sequenceNumber > after && sequenceNumber <= run.next,
        )
        assert.deepEqual(run.items, expected)
      },
    },
    {
      what: `snapshot of ${view} at ${head}`,
      check(model) {
        // A subject with a newer event may be left out; whatever is shown is its last event up to the head.
        const [atHead, now] = [model.latestOf(branches, view, head), model.latestOf(branches, view)]
        const possible = new Set(numbersOf(itemsOf(atHead)))
        assert.ok(numbersOf(shown).every((number) => possible.has(number)))
        const certain = itemsOf(now).filter(({ sequenceNumber }) => sequenceNumber <= head)
        const given = new Set(numbersOf(shown))
        assert.ok(numbersOf(certain).every((number) => given.has(number)))
      },
    },
  ]
}
