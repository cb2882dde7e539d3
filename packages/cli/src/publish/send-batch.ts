import type { ProblemError } from '@property-events/protocol'
import { Refusal } from '../refusal.ts'
import { memberOf, memberText } from '../members.ts'
import { problemSentence } from '../service-client.ts'
import type { ServiceAnswer } from '../service-client.ts'
import type { Entry, RefusedEntry } from './read-entry.ts'

/** What became of the events of a batch. */
export interface BatchResult {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: readonly RefusedEntry[]
  readonly advice: readonly RefusedEntry[]
}

/** Statuses that are about the events of a request, not about the request. */
const eventStatuses = new Set([400, 409, 413])

/**
 * Sends one batch. A request that is refused for some of its events is sent again without them, and without a hint
 * which they are in halves, until what is left is stored: the order of the file stays. Anything that concerns the
 * whole (a key that may not publish, a wrong address) throws a `Refusal`.
 */
export async function sendBatch(
  entries: readonly Entry[],
  send: (body: string) => Promise<ServiceAnswer>,
): Promise<BatchResult> {
  let left = entries
  const refused: RefusedEntry[] = []
  while (left.length > 0) {
    const answer = await send(left.map((entry) => `${entry.text}\n`).join(''))
    if (answer.status === 200 || answer.status === 201) return { ...countReceipt(answer.body, left), refused }
    if (!eventStatuses.has(answer.status)) throw new Refusal(problemSentence(answer))
    const named = faultsByEvent(answer.body, left)
    if (named.size === 0) {
      const [first] = left
      if (left.length === 1 && first !== undefined) {
        refused.push(refusalOf(first, undefined, answer))
        left = []
        break
      }
      return await sendHalves(left, refused, send)
    }
    for (const [entry, fault] of named) refused.push(refusalOf(entry, fault, answer))
    left = left.filter((entry) => !named.has(entry))
  }
  return { published: 0, repeated: 0, unchanged: 0, refused, advice: [] }
}

async function sendHalves(
  entries: readonly Entry[],
  refusedBefore: readonly RefusedEntry[],
  send: (body: string) => Promise<ServiceAnswer>,
): Promise<BatchResult> {
  const middle = Math.ceil(entries.length / 2)
  const first = await sendBatch(entries.slice(0, middle), send)
  const second = await sendBatch(entries.slice(middle), send)
  return {
    published: first.published + second.published,
    repeated: first.repeated + second.repeated,
    unchanged: first.unchanged + second.unchanged,
    refused: [...refusedBefore, ...first.refused, ...second.refused],
    advice: [...first.advice, ...second.advice],
  }
}

/** The first fault of each event that the answer names with a pointer such as `/3/payload/price`. */
function faultsByEvent(body: unknown, entries: readonly Entry[]): ReadonlyMap<Entry, ProblemError> {
  const named = new Map<Entry, ProblemError>()
  const errors = memberOf(body, 'errors')
  for (const error of Array.isArray(errors) ? errors : []) {
    const pointer = memberText(error, 'pointer') ?? ''
    const index = /^\/([0-9]{1,6})(?=\/|$)/.exec(pointer)?.[1]
    const entry = index === undefined ? undefined : entries[Number(index)]
    if (entry === undefined || index === undefined || named.has(entry)) continue
    const code = memberText(error, 'code') ?? 'refused'
    const message = memberText(error, 'message') ?? ''
    named.set(entry, { pointer: pointer.slice(index.length + 1), code, message })
  }
  return named
}

function refusalOf(entry: Entry, fault: ProblemError | undefined, answer: ServiceAnswer): RefusedEntry {
  const { line, item } = entry
  if (fault !== undefined)
    return { line, item, code: fault.code, pointer: fault.pointer, message: fault.message }
  const code = memberText(answer.body, 'code') ?? `status_${answer.status}`
  return {
    line,
    item,
    code,
    pointer: undefined,
    message: memberText(answer.body, 'detail') ?? problemSentence(answer),
  }
}

function countReceipt(body: unknown, entries: readonly Entry[]): Omit<BatchResult, 'refused'> {
  let published = 0
  let unchanged = 0
  const events = memberOf(body, 'events')
  for (const event of Array.isArray(events) ? events : []) {
    // Events the service derived stand beside the one of the file that caused them.
    if (memberOf(event, 'derived') === true || memberOf(event, 'repeated') === true) continue
    if (memberOf(event, 'unchanged') === true) unchanged += 1
    else published += 1
  }
  // Not counted one by one: the repeat of an event that caused another brings both back.
  const repeated = entries.length - published - unchanged
  const warnings = memberOf(body, 'warnings')
  const advice = (Array.isArray(warnings) ? warnings : []).flatMap((warning: unknown) => {
    const entry = entries[Number(memberOf(warning, 'index'))]
    if (entry === undefined) return []
    const { line, item } = entry
    const code = memberText(warning, 'code') ?? ''
    return [
      {
        line,
        item,
        code,
        pointer: memberText(warning, 'pointer'),
        message: memberText(warning, 'message') ?? '',
      },
    ]
  })
  return { published, repeated, unchanged, advice }
}
