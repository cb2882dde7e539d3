/** Holds what clients wrote down against the promises. Each violation begins with the promise it breaks. */
import { checkAnswers } from './check-answers.ts'
import { eventsOf, few } from './kept-feed.ts'
import type { KeptFeed } from './kept-feed.ts'
import type { FeedRecord, Publication } from './record.ts'

/** Nothing, if all promises were kept. At most a few of each kind. */
export function violations(record: FeedRecord): readonly string[] {
  const feed = eventsOf(record.kept)
  return [
    ...few(record.refusals.map((refusal) => `P11: ${refusal}`)),
    ...few(misplaced(feed)),
    ...few(early(feed)),
    ...few(unlike(feed, record.publications)),
    ...few(torn(feed, record.publications)),
    ...few(unknown(feed, record.publications)),
    ...few(overtaken(feed, record.publications)),
    ...checkAnswers(record, feed),
  ]
}

function misplaced({ events, byId }: KeptFeed): readonly string[] {
  return events.flatMap(({ sequenceNumber, id }, index) => [
    ...(sequenceNumber === index + 1 ? [] : [`P1: place ${index + 1} holds number ${sequenceNumber}`]),
    ...(byId.get(id) === index ? [] : [`P6: ${id} is there twice`]),
  ])
}

function early({ events }: KeptFeed): readonly string[] {
  return events.flatMap(({ sequenceNumber, createdDate }, index) => {
    const before = events[index - 1]
    if (before === undefined || before.createdDate < createdDate) return []
    return [`P3: ${sequenceNumber} is stamped ${createdDate}, and the one before it ${before.createdDate}`]
  })
}

/** What was acknowledged is there as the receipt says, with the payload that was sent. */
function unlike({ events, byId }: KeptFeed, publications: readonly Publication[]): readonly string[] {
  return publications.flatMap(({ events: sent, receipt }) =>
    sent.flatMap(({ id, payload }, n) => {
      const event = events[byId.get(id) ?? -1]
      const line = receipt?.[n]
      if (event === undefined) return receipt === undefined ? [] : [`P7: ${id} was acknowledged and is gone`]
      if (event.payload !== payload) return [`P7: ${id} is there with another payload`]
      if (receipt === undefined) return []
      const same =
        line?.id === id &&
        line.sequenceNumber === event.sequenceNumber &&
        line.createdDate === event.createdDate
      return same
        ? []
        : [`P7: ${id} was acknowledged as ${JSON.stringify(line)} and is ${event.sequenceNumber}`]
    }),
  )
}

/** A request is there whole and in its order, or not at all, whether or not it was acknowledged. */
function torn({ byId }: KeptFeed, publications: readonly Publication[]): readonly string[] {
  return publications.flatMap(({ events, receipt }) => {
    const places = events.map(({ id }) => byId.get(id))
    if (receipt === undefined && places.every((place) => place === undefined)) return []
    const [first = -1] = places
    if (first >= 0 && places.every((place, n) => place === first + n)) return []
    return [`P6: a request is not there whole and in its order: at ${places.join(', ')}`]
  })
}

function unknown({ events }: KeptFeed, publications: readonly Publication[]): readonly string[] {
  const sent = new Set(publications.flatMap(({ events }) => events.map(({ id }) => id)))
  return events
    .filter(({ id }) => !sent.has(id))
    .map(({ sequenceNumber }) => `P6: nobody has sent ${sequenceNumber}`)
}

/** Acknowledged before another one began: its number is smaller. */
function overtaken({ byId }: KeptFeed, publications: readonly Publication[]): readonly string[] {
  const first = publications.filter(({ again }) => !again)
  const ended = first.filter(({ receipt }) => receipt !== undefined).sort((a, b) => a.endedMs - b.endedMs)
  const faults: string[] = []
  let highest = 0
  let next = 0
  for (const { events, startedMs } of first.toSorted((a, b) => a.startedMs - b.startedMs)) {
    for (let before = ended[next]; before !== undefined && before.endedMs < startedMs; before = ended[next]) {
      highest = Math.max(highest, ...before.events.map(({ id }) => (byId.get(id) ?? -1) + 1))
      next += 1
    }
    for (const { id } of events) {
      const number = (byId.get(id) ?? Infinity) + 1
      if (number <= highest)
        faults.push(`P1: ${number} began after ${highest} had been acknowledged, and is smaller`)
    }
  }
  return faults
}
