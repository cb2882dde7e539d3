/** The client that publishes a file: its patience, and the messages for the user meanwhile. */
import { AbortedError, createClient, PropertyEventsError, ServiceError } from '@property-events/client'
import type { Client, ClientOptions } from '@property-events/client'
import type { FeedName } from '@property-events/protocol'
import packageJson from '../../package.json' with { type: 'json' }
import { Refusal } from '../refusal.ts'
import { connectionRefusal, problemMessage } from '../service-client.ts'
import type { ServiceAddress } from '../service-client.ts'
import { plainText } from '../terminal-text.ts'

export type PublishClient = Pick<Client<FeedName>, 'publishText' | 'heads'>

interface PublishClientOptions {
  readonly address: ServiceAddress
  readonly feed: FeedName
  /** Called before each wait. */
  readonly onWait: (sentence: string, waitMs: number) => void
  /** For tests. */
  readonly transport?: Pick<ClientOptions, 'fetch' | 'sleep'>
}

/** A publish of 8 MiB on a slow disk takes seconds, not a minute. */
const attemptTimeoutMs = 60_000

/** Their waits add up to 90 s on average: enough for a restart or a failover of 1 to 2 minutes. */
const attempts = 12

/** With fewer attempts a restart, which takes a second or two, is waited for as well. */
const baseDelayMs = 1_000

/** When a service asks for a longer wait than this, its operator is needed. */
const maxRetryAfterMs = 120_000

/** Longer than all attempts and waits together. */
const deadlineMs = 3_600_000

export function publishClient(options: PublishClientOptions): PublishClient {
  const { address, feed, onWait, transport = {} } = options
  const { fetch: ask = fetch } = transport
  return createClient({
    ...address,
    ...transport,
    feed,
    attemptTimeoutMs,
    deadlineMs,
    retry: {
      attempts,
      ...(address.retry && { ...address.retry, baseDelayMs }),
      maxRetryAfterMs,
      onWait(error, waitMs) {
        onWait(sentenceOf(error, address.baseUrl), waitMs)
      },
    },
    fetch(input, init) {
      const headers = new Headers(init?.headers)
      headers.set('user-agent', `property-events-cli/${packageJson.version}`)
      return ask(input, { ...init, headers })
    },
  })
}

/**
 * The epoch of the feed that is published to; '' if the service does not say, or names several tenants. When it changes, events that were
 * acknowledged before may be gone. Throws a `Refusal` when the service is away.
 */
export async function epochOf(
  client: PublishClient,
  feed: FeedName,
  { tenant, baseUrl }: ServiceAddress,
  signal: AbortSignal,
): Promise<string> {
  try {
    const heads = (await client.heads({ signal })).filter((head) => head.feed === feed)
    const ofTenant = heads.filter(
      ({ tenantId }) => tenant === undefined || tenantId.toLowerCase() === tenant.toLowerCase(),
    )
    return ofTenant.length === 1 ? (ofTenant[0]?.epoch ?? '') : ''
  } catch (error) {
    if (error instanceof AbortedError) throw error
    // What the key may not do, publishing says in its own words.
    if (error instanceof PropertyEventsError && error.again === 'never') return ''
    throw publishRefusalOf(error, baseUrl)
  }
}

/** The refusal for an error of this client, in words for the user; any other error as it is. */
export function publishRefusalOf(error: unknown, baseUrl: string): unknown {
  return error instanceof PropertyEventsError ? new Refusal(sentenceOf(error, baseUrl)) : error
}

function sentenceOf(error: PropertyEventsError, baseUrl: string): string {
  if (error instanceof ServiceError) return problemMessage(error)
  const refusal = connectionRefusal(error, baseUrl)
  return refusal instanceof Refusal ? refusal.message : plainText(error.message)
}
