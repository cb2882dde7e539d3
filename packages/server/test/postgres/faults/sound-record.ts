/** A record in which nothing is wrong: thirty events, one a request, each read through every door. */
import type { Answer, FeedRecord, Publication, Question } from './record.ts'

const count = 30

export function soundRecord(): FeedRecord {
  const kept = Array.from({ length: count }, (_, place) => JSON.stringify(eventAt(place)))
  const sales = kept.filter((_, place) => place % 2 === 0)
  const read = (question: Question, items: readonly string[], startedMs: number): Answer => {
    const common = { question, node: 'node 1', minimum: undefined, items }
    return { ...common, startedMs, endedMs: startedMs + 1, head: count }
  }
  const [from, asked] = [createdAt(15), createdAt(25)]
  return {
    kept,
    refusals: [],
    publications: kept.map((_, place) => publicationOf(place)),
    answers: [
      read({ door: 'number', after: 0, limit: 100 }, kept, 5_000),
      read({ door: 'window', reader: 'reader', from: createdAt(0), asked: from }, kept.slice(0, 15), 6_000),
      read({ door: 'window', reader: 'reader', from, asked }, kept.slice(15, 27), 6_010),
      read(
        { door: 'page', view: 'sales', page: 2, pageSize: 10, available: count / 2 },
        sales.slice(10),
        7_000,
      ),
      read({ door: 'id', id: eventAt(29).id }, kept.slice(29), 8_000),
    ],
  }
}

function eventAt(place: number) {
  const view = place % 2 === 0 ? 'sales' : 'lettings'
  const payload = JSON.stringify({ view, place })
  return { sequenceNumber: place + 1, payload, id: `id ${place}`, createdDate: createdAt(place) }
}

function createdAt(place: number): string {
  return `2025-01-31T09:30:${String(place).padStart(2, '0')}.0000000`
}

function publicationOf(place: number): Publication {
  const { id, payload, sequenceNumber, createdDate } = eventAt(place)
  const receipt = [{ id, sequenceNumber, createdDate }]
  const interval = { startedMs: place * 100, endedMs: place * 100 + 50 }
  return { ...interval, node: 'node 1', events: [{ id, payload }], receipt, again: false }
}
