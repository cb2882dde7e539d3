/** The address of the service, and the messages for the user when it refuses or does not answer. */
import { NetworkError } from '@property-events/client'
import type { ServiceError } from '@property-events/client'
import { Refusal } from './refusal.ts'
import { settings } from './settings/settings.ts'
import { commandLine } from './program-name.ts'
import { plainText } from './terminal-text.ts'
import type { SettingReader } from './settings/setting.ts'

export interface ServiceAddress {
  readonly baseUrl: string
  readonly key: string
  /** Only for a key that covers several tenants. */
  readonly tenant?: string
  /** The consumer name. */
  readonly consumer?: string
  /** Where the client's own patience does not fit. */
  readonly retry?: { readonly attempts: number }
}

/**
 * A person at a terminal is told after three tries that the service is away, and can repeat the command. A script waits as long as the client
 * does by itself.
 */
export function retryHere(): Pick<ServiceAddress, 'retry'> {
  return process.stderr.isTTY ? { retry: { attempts: 3 } } : {}
}

/** The settings of every client command. The key is required. */
export function addressFromSettings(reader: SettingReader): ServiceAddress {
  const baseUrl = reader.value(settings.url)
  const key = reader.value(settings.key)
  if (key === undefined) {
    reader.fault(
      `No API key is given: set PROPERTY_EVENTS_KEY, or use --key. \`${commandLine('keys create')}\` creates one.`,
    )
  }
  const tenant = reader.value(settings.keyTenant)
  reader.finish()
  return { baseUrl, key: key ?? '', ...(tenant === undefined ? {} : { tenant }), ...retryHere() }
}

/** The same for a command that reads a feed, and can give a consumer name. */
export function readerFromSettings(reader: SettingReader): ServiceAddress {
  const consumer = reader.value(settings.consumer)
  return { ...addressFromSettings(reader), ...(consumer === undefined ? {} : { consumer }) }
}

/** The reason for the failure of a client's call. If there was no answer, a sentence that says what to check. */
export function connectionRefusal(error: unknown, baseUrl: string): unknown {
  if (!(error instanceof NetworkError)) return error
  if (error.code !== 'network' && error.code !== 'deadline') return new Refusal(plainText(error.message))
  return new Refusal(
    `${baseUrl} does not answer (${networkReason(error)}). Is the service running, and is PROPERTY_EVENTS_URL or --url right?`,
  )
}

/** The service's words about a request that it refused. */
export function problemMessage({ detail, status, code, requestId }: ServiceError): string {
  if (detail === undefined)
    return `The service answers ${status} without saying why. Is PROPERTY_EVENTS_URL or --url the address of property-events?`
  const origin = [status, code, ...(requestId === undefined ? [] : [`request ${requestId}`])]
  return plainText(`${detail} (${origin.join(', ')})`)
}

/** The reason for a missing answer, in a few words: `fetch` hides it in the cause of its error. */
export function networkReason({ message, cause: error }: NetworkError): string {
  if (!(error instanceof Error)) return plainText(message)
  const { cause } = error
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return plainText(code ?? (cause instanceof Error && cause.message !== '' ? cause.message : error.message))
}
