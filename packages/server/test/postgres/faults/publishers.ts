/** Publishers of one feed, who send the same ids again until they have a receipt. */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ask, passing, refusal } from './ask.ts'
import type { Publication, ReceiptLine } from './record.ts'
import type { FeedLoad } from './run-load.ts'
import { shuffled } from './shuffled.ts'

/** Fewer than events, so that subjects have histories. */
const subjects = Array.from({ length: 200 }, () => randomUUID())

/** Publishes until it is over, and then until the last request has its receipt. */
export async function publishUntilOver(load: FeedLoad): Promise<void> {
  while (!load.isOver() && !load.signal.aborted) {
    const events = Array.from({ length: randomInt(5) === 0 ? randomInt(2, 20) : 1 }, newEvent)
    const publication = await publish(load, events, randomInt(10) === 0)
    load.publications.push(publication)
    if (publication.receipt !== undefined && randomInt(20) === 0) {
      load.publications.push({ ...(await publish(load, events, false)), again: true })
    }
    await delay(randomInt(load.pauseMs))
  }
}

function newEvent(): Publication['events'][number] {
  const place = randomInt(subjects.length)
  const view = place % 2 === 0 ? 'sales' : 'lettings'
  const text = 'x'.repeat(randomInt(120))
  const payload = JSON.stringify({ agent_ref: subjects[place], published: true, view, text })
  return { id: randomUUID(), payload }
}

async function publish(
  { feed, nodes, refusals, signal }: FeedLoad,
  events: Publication['events'],
  impatient: boolean,
): Promise<Publication> {
  // As text, so that it stays as it is byte for byte.
  const body = JSON.stringify(
    events.map(({ id, payload }) => ({
      id,
      payload,
      category: (JSON.parse(payload) as { view: string }).view,
    })),
  )
  const startedMs = performance.now()
  for (;;) {
    const [node] = shuffled(nodes)
    if (node === undefined) throw new Error('there are no nodes')
    const request = { path: '/v1/property-events', key: feed.publishKey, body }
    const reply = await ask(node, request)
    const given = { node: node.name, events, startedMs, again: false }
    if (reply?.status === 200 || reply?.status === 201) {
      const receipt = (JSON.parse(reply.text) as { events: ReceiptLine[] }).events
      return { ...given, receipt, endedMs: reply.endedMs }
    }
    if (reply !== undefined && !passing.has(reply.status)) refusals.push(refusal(node, request, reply))
    if (impatient || signal.aborted) return { ...given, receipt: undefined, endedMs: performance.now() }
    await delay(randomInt(20, 200))
  }
}
