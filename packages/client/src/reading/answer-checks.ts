/**
 * Whether an answer can be the one to the request that was made. Caches and proxies that ignore the query, or keep what is over, give
 * answers that are right for another request.
 */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError } from '../errors.ts'
import { createdMsOf, readEventCode } from '../event.ts'
import type { EventPage, FeedEvent, FeedName } from '../wire.ts'

/** Waiting rarely mends a cache: three more tries, some seconds in all. */
const otherAnswerAttempts = 4

/** The error for an answer to another request. */
export function otherAnswer(sentence: string): InvalidAnswerError {
  return new InvalidAnswerError(
    `${sentence} Is there a cache in front of the service that ignores the query?`,
    { attempts: otherAnswerAttempts },
  )
}

/** Throws `InvalidAnswerError` when the page cannot be the answer to this query. */
export function checkPage(
  connection: Connection,
  {
    page = 1,
    pageSize = 100,
  }: { readonly page?: number | undefined; readonly pageSize?: number | undefined },
  answer: EventPage,
): void {
  if (answer.page !== page) {
    throw otherAnswer(`The request was for page ${page}, and the answer is page ${answer.page}.`)
  }
  if (answer.pageSize > pageSize || answer.items.length > answer.pageSize) {
    const held = `pageSize ${answer.pageSize} and ${answer.items.length} items`
    throw otherAnswer(`The request was for pageSize ${pageSize}, and the answer has ${held}.`)
  }
  checkFeed(connection.feed, answer.items)
  checkTenants(connection.tenant, answer.items)
}

/** Throws `InvalidAnswerError` unless all events are of one tenant, and of the one that was asked for. */
export function checkTenants(requested: string | undefined, events: readonly FeedEvent[]): void {
  createTenantCheck(requested)(events)
}

/** The same over several answers. A server may leave the tenant out. */
export function createTenantCheck(requested: string | undefined): (events: readonly FeedEvent[]) => void {
  let tenant = requested?.toLowerCase() ?? ''
  return (events) => {
    for (const { tenantId, sequenceNumber } of events) {
      const given = tenantId.toLowerCase()
      if (tenant === '') tenant = given
      if (given === '' || given === tenant) continue
      throw otherAnswer(
        `The answer has event ${sequenceNumber} of tenant ${tenantId}, and the other events are of tenant ${tenant}.`,
      )
    }
  }
}

function checkFeed(feed: FeedName, events: readonly FeedEvent[]): void {
  for (const { eventTypeShortCode: code } of events) {
    const given = readEventCode(code)?.feed ?? feed
    if (given === feed) continue
    throw otherAnswer(
      `The answer has an event of the ${given} feed, and the request was for the ${feed} feed.`,
    )
  }
}

/** Bounds of `createdDate`, as they were asked for. */
interface Window {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * Throws `InvalidAnswerError` when an event lies outside the window that was asked for. A walk does not ask for this: a server that reads
 * bounds as its local time would be refused, and more events than asked for do no harm there.
 */
export function checkWindow({ from, to }: Window, events: readonly FeedEvent[]): void {
  const begins = boundOf(from)
  const ends = boundOf(to)
  if (begins === undefined && ends === undefined) return
  for (const { createdDate } of events) {
    const createdMs = createdMsOf(createdDate)
    if (!Number.isFinite(createdMs)) continue
    if (begins !== undefined && createdMs < begins.fromMs) {
      throw otherAnswer(`The request was for events from ${from}, and the answer has one of ${createdDate}.`)
    }
    if (ends !== undefined && createdMs > ends.toMs) {
      throw otherAnswer(`The request was for events to ${to}, and the answer has one of ${createdDate}.`)
    }
  }
}

const boundForm = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(z|[+-]\d\d:\d\d)?$/i

/** The interval of the last digit of a bound; `undefined` for a form that only the service knows. */
function boundOf(bound: string | undefined): { readonly fromMs: number; readonly toMs: number } | undefined {
  const [, date, time, seconds, zone = 'Z'] = boundForm.exec(bound ?? '') ?? []
  if (date === undefined) return undefined
  const fromMs = createdMsOf(`${date}T${time ?? '00:00'}${seconds ?? ':00'}${zone.toUpperCase()}`)
  const fraction = seconds?.split('.')[1]?.length ?? 0
  const lengthMs =
    time === undefined ? 86_400_000 : seconds === undefined ? 60_000 : Math.max(1, 1_000 / 10 ** fraction)
  return Number.isFinite(fromMs) ? { fromMs, toMs: fromMs + lengthMs } : undefined
}
