/** Readers of one feed: by number, by the time they last asked, by pages and by id, each in its loop. */
import { randomInt } from 'node:crypto'
import { ask, passing, refusal } from './ask.ts'
import type { Reply, Request } from './ask.ts'
import { itemsIn } from './record.ts'
import type { Question, View } from './record.ts'
import type { FeedLoad } from './run-load.ts'
import type { ServiceNode } from './service-nodes.ts'
import { shuffled } from './shuffled.ts'

const listPath = '/api/func/api/v1/events/getevents'
const viewNames = { all: 'property', sales: 'salesproperty', lettings: 'lettingsproperty' } as const
const pageSize = 1_000

/** Asks once; undefined when the client has to ask again, which it does at another node. */
async function read(load: FeedLoad, node: ServiceNode, request: Request): Promise<Reply | undefined> {
  const reply = await ask(node, request)
  if (reply === undefined || passing.has(reply.status)) return undefined
  if (reply.status === 200) return reply
  load.refusals.push(refusal(node, request, reply))
  return undefined
}

function anyOf(load: FeedLoad): ServiceNode {
  const [node] = shuffled(load.nodes)
  if (node === undefined) throw new Error('there are no nodes')
  return node
}

/** A reader's next step; true when it got its answer. */
export type Step = () => Promise<boolean>

/** Follows the numbers. Says which it must see where it goes to another node. */
export function numberReader(load: FeedLoad, isLoyal: boolean): Step {
  let after = 0
  let node = anyOf(load)
  let last: ServiceNode | undefined
  return async () => {
    if (!isLoyal) node = anyOf(load)
    const limit = randomInt(4) === 0 ? 7 : pageSize
    const minimum = node === last ? undefined : after
    const path = `/v1/property-events?after=${after}&limit=${limit}`
    const reply = await read(load, node, { path, key: load.feed.readKey, minimum })
    if (reply === undefined) {
      node = anyOf(load)
      return false
    }
    last = node
    const { next, head } = JSON.parse(reply.text) as { next: number; head: number }
    load.note({ door: 'number', after, limit }, node, { ...reply, head }, minimum)
    after = next
    return true
  }
}

/** Asks any node "from when I last asked", as public clients do; whole windows, page by page. */
export function timeReader(load: FeedLoad, reader: string): Step {
  let from = stampOf(0)
  return async () => {
    const node = anyOf(load)
    const offsetMs = load.clockOffsetMs()
    const askedMs = Date.now()
    const replies: Reply[] = []
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const path = `${listPath}?from=${from}&page=${page}&pageSize=${pageSize}`
      const reply = await read(load, node, { path, key: load.feed.readKey })
      if (reply === undefined) return false
      replies.push(reply)
      pages = (JSON.parse(reply.text) as { totalPages: number }).totalPages
    }
    const [first] = replies
    if (first === undefined) return false
    // Whichever of two servers has answered.
    const asked = stampOf(askedMs + Math.min(offsetMs, load.clockOffsetMs()))
    const items = replies.flatMap(({ text }) => itemsIn(text))
    load.noteItems({ door: 'window', reader, from, asked }, node, first, undefined, items)
    if (asked > from) from = asked
    // While the clock is behind, the same events would come again and again.
    const latest = items.length > 300 ? createdOf(items.at(-1) ?? '') : from
    if (latest > from) from = latest
    return true
  }
}

function createdOf(bytes: string): string {
  return (JSON.parse(bytes) as { createdDate: string }).createdDate
}

/** As `createdDate` is written. */
function stampOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}0000`
}

/** Any page of any view, at any node; now and then with the number it must see. */
export function pageReader(load: FeedLoad): Step {
  let pages = 1
  let seen = 0
  return async () => {
    const node = anyOf(load)
    const [view = 'all'] = shuffled<View>(['all', 'sales', 'lettings'])
    // The last ones change, those before them are what caches are for.
    const page = randomInt(2) === 0 ? Math.max(1, pages - randomInt(3)) : randomInt(1, pages + 1)
    const minimum = randomInt(2) === 0 ? seen : undefined
    const path = `${listPath}?apiEventType=${viewNames[view]}&page=${page}&pageSize=100`
    const reply = await read(load, node, { path, key: load.feed.readKey, minimum })
    if (reply === undefined) return false
    const body = JSON.parse(reply.text) as { availableCount: number; totalPages: number }
    load.note(
      { door: 'page', view, page, pageSize: 100, available: body.availableCount },
      node,
      reply,
      minimum,
    )
    pages = Math.max(1, body.totalPages)
    seen = Math.max(seen, reply.head)
    return true
  }
}

/** An event that was acknowledged a moment or long ago: at the same node, or at another one with its number. */
export function idReader(load: FeedLoad): Step {
  return async () => {
    const { publications } = load
    const back = randomInt(2) === 0 ? Math.min(10, publications.length) : publications.length
    const known = publications[publications.length - 1 - randomInt(back + 1)]
    const line = known?.receipt?.[0]
    if (known === undefined || line === undefined) return false
    const node = anyOf(load)
    const minimum = node.name === known.node ? undefined : line.sequenceNumber
    const request = {
      path: `/api/func/api/v1/events/geteventbyid/${line.id}`,
      key: load.feed.readKey,
      minimum,
    }
    const reply = await ask(node, request)
    if (reply === undefined || passing.has(reply.status)) return false
    const question: Question = { door: 'id', id: line.id }
    if (reply.status !== 200 && reply.status !== 404) load.refusals.push(refusal(node, request, reply))
    else {
      // A single event comes without the feed's last number; its own it must have seen.
      const seen = { ...reply, head: line.sequenceNumber }
      load.noteItems(question, node, seen, minimum, reply.status === 200 ? [reply.text.trimEnd()] : [])
    }
    return reply.status === 200
  }
}
