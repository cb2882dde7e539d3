/** Whether a server has the reads of PROTOCOL §11, and the head of its feed. */
import type { Connection } from '../connection.ts'
import { decodeHeads, decodePage } from '../decode.ts'
import { requestJson } from '../http/requests.ts'
import { ServiceError } from '../service-errors.ts'
import { feedPaths, headsPath } from '../wire.ts'
import type { FeedHead } from '../wire.ts'

/** The head of the feed, and its tenant; `undefined` when the answer does not come from a Property Events service. */
export async function requestHead(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<FeedHead | undefined> {
  const request = { method: 'GET', path: headsPath } as const
  // Some servers answer every path with 200 and a page, so an answer in another form is a valid result, too.
  const { value } = await requestJson(connection, request, (body) => decodeHeads(body) ?? 'notOurs', signal)
  if (value === 'notOurs') return undefined
  const heads = value.heads.filter(({ feed }) => feed === connection.feed)
  return heads.length === 1 ? heads[0] : undefined
}

/**
 * The same, and `undefined` also for a server that refuses the request. Use it only while nothing is known about the server: later, in
 * the middle of reading by numbers, a temporary fault must not be taken for a plain server.
 */
export async function probeHead(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<FeedHead | undefined> {
  try {
    return await requestHead(connection, signal)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.again === 'operator') throw error
    if (error.again === 'later') await requestAnyPage(connection, signal)
    return undefined
  }
}

/** One request, after the client's patience has been used up: a server that is away has no pages either, and is not waited for twice. */
async function requestAnyPage(connection: Connection, signal: AbortSignal | undefined): Promise<void> {
  const { list: path } = feedPaths[connection.feed]
  const once = { ...connection, retry: { ...connection.retry, attempts: 1 } }
  await requestJson(once, { method: 'GET', path, query: { page: 1, pageSize: 1 } }, decodePage, signal)
}
