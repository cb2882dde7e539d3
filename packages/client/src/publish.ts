/** Publishes in batches that can be repeated without harm (PROTOCOL §4). */
import type { Connection } from './connection.ts'
import { isReceipt } from './decode.ts'
import { InvalidOptionError } from './errors.ts'
import { requestJson } from './http/requests.ts'
import type { Request } from './http/requests.ts'
import { feedPaths } from './wire.ts'
import type {
  ContactPublication,
  FeedName,
  ProblemError,
  PropertyRemoval,
  PropertyState,
  PublishReceipt,
  PublishWarning,
  ReceiptEvent,
} from './wire.ts'

/**
 * One event to publish (PROTOCOL §4): a payload or, in the property feed, the removal of a property. The compiler checks the members of a
 * payload that consumers know. It may have others; one of another type is given as text, which is kept byte for byte. `id` makes a repeat
 * harmless. Without one, `publish` makes one, so that its own retries are harmless.
 */
export type Publication<F extends FeedName = 'property'> = Publications[F]

interface Publications {
  readonly property: PropertyState | PropertyRemoval
  readonly contact: ContactPublication
}

type AnyPublication = Publication<FeedName>

export interface PublishTextOptions {
  /** Reports what would happen; stores nothing. */
  readonly dryRun?: boolean
  /** `skip`: a payload equal to its subject's latest stores nothing. `store` by default. */
  readonly unchanged?: 'store' | 'skip'
  readonly signal?: AbortSignal
}

export interface PublishOptions extends PublishTextOptions {
  /** Most events in a request, 500 by default; a service accepts at most 1,000. */
  readonly batchSize?: number
  /** Most UTF-8 bytes in a request, 4 MiB by default; a service accepts at most 16 MiB. */
  readonly batchBytes?: number
  /**
   * Called after each request: the first `published` events are on the service's disk or, in a dry run, have been
   * checked.
   */
  readonly onProgress?: (progress: { readonly published: number; readonly total: number }) => void
}

/**
 * Publishes events in their order, in as few requests as the limits allow, one after the other. Each request is stored whole or not at
 * all. Every event gets an id before anything is sent, so a request whose answer was lost can be repeated without making an event twice.
 * If the call fails half-way, acknowledged events stay, and the error's message says how many they are, unless `signal` ended the call;
 * another call with the same ids continues from there. Pointers of faults count from the first event given.
 */
export async function publish(
  connection: Connection,
  publications: AnyPublication | readonly AnyPublication[],
  options: PublishOptions = {},
): Promise<PublishReceipt> {
  const all = isList(publications) ? publications : [publications]
  const lines = all.map((publication) =>
    JSON.stringify({ ...publication, id: publication.id ?? crypto.randomUUID() }),
  )
  const events: ReceiptEvent[] = []
  const warnings: PublishWarning[] = []
  let repeated = lines.length > 0
  const { events: path } = feedPaths[connection.feed]
  const done = options.dryRun === true ? 'checked' : 'published'
  for (const { start, end } of batchesOf(lines, options)) {
    const receipt = await requestPublish(connection, lines.slice(start, end).join('\n'), options, {
      name:
        start === 0 ? undefined : `POST ${path} (${start} of ${lines.length} events had been ${done} before)`,
      mapFault: (fault) => shiftPointer(start, fault),
    })
    events.push(...receipt.events)
    warnings.push(...receipt.warnings.map((warning) => ({ ...warning, index: warning.index + start })))
    repeated &&= receipt.repeated
    options.onProgress?.({ published: end, total: lines.length })
  }
  return { events, repeated, warnings }
}

/** Publishes one request. Give each event an id: after a lost answer, the same request is sent again. */
export function publishText(
  connection: Connection,
  ndjson: string,
  options: PublishTextOptions = {},
): Promise<PublishReceipt> {
  return requestPublish(connection, ndjson, options, {})
}

async function requestPublish(
  connection: Connection,
  body: string,
  { dryRun, unchanged, signal }: PublishTextOptions,
  description: Pick<Request, 'name' | 'mapFault'>,
): Promise<PublishReceipt> {
  const query = {
    dryRun: dryRun === true ? 'true' : undefined,
    unchanged: unchanged === 'skip' ? 'skip' : undefined,
  }
  const { events: path } = feedPaths[connection.feed]
  const request = {
    ...description,
    method: 'POST',
    path,
    query,
    body,
    contentType: 'application/x-ndjson',
  } as const
  const decode = (value: unknown) => (isReceipt(value) ? value : undefined)
  return (await requestJson(connection, request, decode, signal)).value
}

/** The pointer of a fault begins with the event's index in the body. Here it is counted from the first event of all batches. */
export function shiftPointer(start: number, fault: ProblemError): ProblemError {
  const pointer = fault.pointer?.replace(
    /^\/(\d+)(?=\/|$)/,
    (_, index: string) => `/${Number(index) + start}`,
  )
  return pointer === undefined ? fault : { ...fault, pointer }
}

function isList(value: AnyPublication | readonly AnyPublication[]): value is readonly AnyPublication[] {
  return Array.isArray(value)
}

interface Batch {
  readonly start: number
  /** First line after the batch. */
  readonly end: number
}

function batchesOf(lines: readonly string[], options: PublishOptions): readonly Batch[] {
  const { batchSize = 500, batchBytes = 4 * 2 ** 20 } = options
  if (!Number.isSafeInteger(batchSize) || batchSize < 1) {
    throw new InvalidOptionError('batchSize must be a whole number from 1.')
  }
  const encoder = new TextEncoder()
  const batches: Batch[] = []
  let start = 0
  let bytes = 0
  for (const [index, line] of lines.entries()) {
    const lineBytes = encoder.encode(line).length + 1
    if (index > start && (index - start >= batchSize || bytes + lineBytes > batchBytes)) {
      batches.push({ start, end: index })
      start = index
      bytes = 0
    }
    bytes += lineBytes
  }
  if (start < lines.length) batches.push({ start, end: lines.length })
  return batches
}
