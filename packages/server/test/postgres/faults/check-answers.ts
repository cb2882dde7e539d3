/** Holds what readers were answered against the feed as it is in the end: nothing had been left out, and nothing changed. */
import { countBelow, few } from './kept-feed.ts'
import type { KeptFeed } from './kept-feed.ts'
import type { Answer, FeedRecord } from './record.ts'

export function checkAnswers(record: FeedRecord, feed: KeptFeed): readonly string[] {
  const { answers } = record
  return [
    ...few(answers.flatMap((answer) => changed(answer, feed))),
    ...few(answers.flatMap((answer) => incomplete(answer, feed))),
    ...few(missedByTime(answers, feed)),
    ...few(withheld(answers)),
    ...few(forgotten(record)),
  ]
}

/** Whatever node answered, through whatever door: one number has one form for ever. */
function changed({ items, head, question, node }: Answer, { bytes, events }: KeptFeed): readonly string[] {
  const faults = items
    .filter((item) => !bytes.has(item))
    .map(
      (item) => `P9: ${node} answered by ${question.door} what is not so in the end: ${item.slice(0, 300)}`,
    )
  if (head <= events.length) return faults
  return [...faults, `P7: ${node} has shown the number ${head}, and the feed ends with ${events.length}`]
}

/** What should have been in the answer, by places in the feed. */
function expected({ question, head, items }: Answer, feed: KeptFeed): Expected {
  const { events, byId, views } = feed
  switch (question.door) {
    case 'number': {
      const count = Math.max(0, Math.min(question.limit, head - question.after))
      return { promise: 'P2', first: question.after, count, places: views.all }
    }
    case 'window': {
      const createdAt = (place: number): string => events[place]?.createdDate ?? ''
      const first = countBelow(events.length, createdAt, question.from)
      const behind = countBelow(events.length, createdAt, question.asked)
      // Later ones may be there too: the answer was made somewhat after it was asked for.
      return { promise: 'P3', first, count: Math.max(items.length, behind - first), places: views.all }
    }
    case 'page': {
      const places = views[question.view]
      const first = (question.page - 1) * question.pageSize
      const count = Math.max(0, Math.min(question.pageSize, question.available - first))
      return { promise: 'P4', first, count, places }
    }
    case 'id':
      break
  }
  return { promise: 'P8', first: byId.get(question.id) ?? -1, count: 1, places: views.all }
}

interface Expected {
  readonly promise: string
  readonly first: number
  readonly count: number
  readonly places: readonly number[]
}

function incomplete(answer: Answer, feed: KeptFeed): readonly string[] {
  const { question, items, node, head } = answer
  const { promise, first, count, places } = expected(answer, feed)
  const faults: string[] = []
  const isThere = (bytes: string | undefined, n: number): boolean =>
    bytes !== undefined && bytes === feed.kept[places[first + n] ?? -1]
  const said = `by ${JSON.stringify(question)} (head ${head})`
  for (let n = 0; n < Math.max(count, items.length); n += 1) {
    if (isThere(items[n], n)) continue
    faults.push(`${promise}: ${node} left out number ${(places[first + n] ?? -2) + 1} ${said}`)
    break
  }
  if (question.door !== 'page') return faults
  const matching = countBelow(places.length, (place) => places[place] ?? 0, head)
  if (matching === question.available) return faults
  return [...faults, `P4: ${node} counted ${question.available} in place of ${matching} ${said}`]
}

/** A client that asks "from when I last asked" has got everything that was stamped before it last asked. */
function missedByTime(answers: readonly Answer[], feed: KeptFeed): readonly string[] {
  const readers = new Map<string, { seen: Set<string>; asked: string }>()
  for (const { question, items } of answers) {
    if (question.door !== 'window') continue
    const reader = readers.get(question.reader) ?? { seen: new Set(), asked: '' }
    readers.set(question.reader, reader)
    for (const bytes of items) reader.seen.add(bytes)
    if (question.asked > reader.asked) reader.asked = question.asked
  }
  return [...readers].flatMap(([name, { seen, asked }]) =>
    feed.events
      .filter(({ createdDate }, place) => createdDate < asked && !seen.has(feed.kept[place] ?? ''))
      .map(({ sequenceNumber, createdDate }) => `P3: ${name} never got ${sequenceNumber} of ${createdDate}`),
  )
}

/** A read that says which number it must see shows it. */
function withheld(answers: readonly Answer[]): readonly string[] {
  return answers.flatMap(({ minimum = 0, head, node, question }) =>
    head >= minimum ? [] : [`P8: ${node} answered ${head} by ${question.door}, asked for ${minimum}`],
  )
}

/** What a node has shown or acknowledged, every later read on it includes, restarts in between or not. */
function forgotten({ answers, publications }: FeedRecord): readonly string[] {
  const receipts = publications.flatMap(({ node, endedMs, receipt = [] }) => {
    return receipt.map(({ sequenceNumber }) => ({ node, endedMs, head: sequenceNumber }))
  })
  const shown = [...answers, ...receipts].sort((a, b) => a.endedMs - b.endedMs)
  // One by id says no more than that event's own number.
  const readings = answers.filter(({ question }) => question.door !== 'id')
  const highest = new Map<string, number>()
  const faults: string[] = []
  let next = 0
  for (const { node, startedMs, head } of readings.toSorted((a, b) => a.startedMs - b.startedMs)) {
    for (let before = shown[next]; before !== undefined && before.endedMs < startedMs; before = shown[next]) {
      highest.set(before.node, Math.max(before.head, highest.get(before.node) ?? 0))
      next += 1
    }
    const least = highest.get(node) ?? 0
    if (head < least) faults.push(`P8: ${node} answered up to ${head} after it had shown ${least}`)
  }
  return faults
}
