/** Where the service is, and publishing to it: refusals are answers here, since they tell which of many lines to leave out. */
import packageJson from '../package.json' with { type: 'json' }
import { memberText } from './members.ts'
import { Refusal } from './refusal.ts'
import { settings } from './settings.ts'
import { commandLine } from './program-name.ts'
import { plainText } from './terminal-text.ts'
import type { SettingReader } from './read-settings.ts'

export interface PublishRequest {
  /** After the base address, with a leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  /** One event a line. */
  readonly text: string
}

/** The service's answer, of any status. `body` is the parsed JSON, or `undefined` when it is not JSON. */
export interface ServiceAnswer {
  readonly status: number
  readonly body: unknown
  readonly retryAfterMs: number | undefined
}

export interface ServiceClient {
  /** Sends once. Rejects with `NoAnswer` and what the machine said when there is none. */
  publish(request: PublishRequest): Promise<ServiceAnswer>
}

/** There was no answer at all: refused, cut off, timed out. Asking again may help. */
export class NoAnswer extends Refusal {}

/** `error` is what `fetch` failed with. */
export function noAnswerOf(baseUrl: string, error: unknown): NoAnswer {
  return new NoAnswer(
    `${baseUrl} does not answer (${reasonOf(error)}). Is the service running, and is --url right?`,
  )
}

/** A publish of 8 MiB on a slow disk takes seconds, not a minute. */
const timeoutMs = 60_000

/** The two settings every client command has. The key must be there. */
export function addressFromSettings(reader: SettingReader): {
  readonly baseUrl: string
  readonly key: string
} {
  const baseUrl = reader.value(settings.url)
  const key = reader.value(settings.key)
  if (key === undefined) {
    reader.fault(
      `No API key is given: set PROPERTY_EVENTS_KEY, or use --key. \`${commandLine('keys create')}\` makes one.`,
    )
  }
  reader.finish()
  return { baseUrl, key: key ?? '' }
}

export function serviceClient({
  baseUrl,
  key,
}: {
  readonly baseUrl: string
  readonly key: string
}): ServiceClient {
  return {
    async publish({ path, query, text: body }) {
      const url = new URL(baseUrl + path)
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, value)
      }
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'x-api-key': key,
            accept: 'application/json',
            'user-agent': `property-events-cli/${packageJson.version}`,
            'content-type': 'application/x-ndjson',
          },
          body,
          // A redirect would carry the key to wherever it points.
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        })
        const text = await response.text()
        const retryAfterMs = readRetryAfter(response.headers.get('retry-after'))
        return { status: response.status, body: parseJson(text), retryAfterMs }
      } catch (error) {
        throw noAnswerOf(baseUrl, error)
      }
    },
  }
}

/** What the service said about a request it refused. */
export function problemSentence(answer: ServiceAnswer): string {
  const { status } = answer
  if (status >= 300 && status < 400)
    return `The service answers with a redirect (${status}); give its final address as --url.`
  const detail = memberText(answer.body, 'detail') ?? memberText(answer.body, 'title')
  const code = memberText(answer.body, 'code')
  if (detail === undefined)
    return `The service answers ${status} without saying why. Is --url the address of property-events?`
  const requestId = memberText(answer.body, 'requestId')
  const origin = [code, requestId === undefined ? undefined : `request ${requestId}`].filter(
    (part) => part !== undefined,
  )
  return plainText(`${detail} (${[status, ...origin].join(', ')})`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  if (/^[0-9]{1,6}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

/** Why `fetch` failed, in a few words: it hides the reason in `cause`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`
  const cause = error.cause
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return plainText(code ?? (cause instanceof Error && cause.message !== '' ? cause.message : error.message))
}
