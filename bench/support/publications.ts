/** Bodies to publish, and the check that what was published exists. */
import { generate } from '../../packages/demo/src/demo-data/generate.ts'
import { listPath } from './reading-set.ts'
import { getOk } from './requests.ts'
import type { RunningServer } from './server.ts'

export const publishPath = '/v1/property-events'

/** Generated events that carry a payload, in batches of `size`, one JSON text each. Without ids: each publish is new. */
export function publicationBodies(averageBytes: number, size: number): readonly string[] {
  const events = [...generate({ events: 6_000, seed: 'publish', averageBytes })].filter((line) =>
    line.startsWith('{"payload"'),
  )
  if (size === 1) return events
  return Array.from(
    { length: Math.floor(events.length / size) },
    (_, index) => `[${events.slice(index * size, index * size + size).join(',')}]`,
  )
}

/** Before the measurement: acknowledged events are at the end of the feed, in order. */
export async function checkPublishing(server: RunningServer, key: string, body: string): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}${publishPath}`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`publishing answered ${answer.status}: ${text.slice(0, 300)}`)
  const { events }: { events: { id: string; sequenceNumber: number }[] } = JSON.parse(text)
  for (const { id, sequenceNumber } of events) {
    const url = `${server.url}${listPath}?page=${sequenceNumber}&pageSize=1`
    const page: { items: { id: string }[] } = JSON.parse((await getOk(url, headers)).toString())
    if (page.items[0]?.id !== id) throw new Error(`event ${sequenceNumber} is not the one acknowledged`)
  }
}

/** After the runs: the feed contains numbers 1, 2, 3 … and as many as it reports. */
export async function checkFeed(server: RunningServer, key: string): Promise<void> {
  const headers = { 'x-api-key': key }
  const url = `${server.url}${listPath}?pageSize=1000`
  const first: { totalPages: number } = JSON.parse((await getOk(url, headers)).toString())
  for (const page of [1, Math.ceil(first.totalPages / 2), first.totalPages]) {
    const bytes = await getOk(`${url}&page=${page}`, headers)
    const { items }: { items: { sequenceNumber: number }[] } = JSON.parse(bytes.toString())
    const right = items.every(
      ({ sequenceNumber }, index) => sequenceNumber === (page - 1) * 1_000 + index + 1,
    )
    if (!right) throw new Error(`page ${page} has holes`)
  }
}
