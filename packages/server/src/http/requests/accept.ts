/** What a client accepts: `Accept` and `Accept-Encoding` (RFC 9110 §12). */
import type { ContentCoding } from '../answer-body.ts'

interface Preference {
  readonly name: string
  /** 0 to 1. */
  readonly weight: number
}

/** No client has more preferences than this; the rest of a longer list is not read. */
const maxPreferences = 100

/** Clients send the same few headers again and again; reading one takes 1 to 2 µs. */
const cacheLimit = 100
const longestKept = 200

/** Remembers the results for the most recent headers. */
function remembered<Value>(read: (header: string) => Value): (header: string) => Value {
  const cache = new Map<string, Value>()
  return (header) => {
    const found = cache.get(header)
    if (found !== undefined || header.length > longestKept) return found ?? read(header)
    if (cache.size >= cacheLimit) cache.clear()
    const value = read(header)
    cache.set(header, value)
    return value
  }
}

const preferencesOf = remembered(readPreferences)

function readPreferences(header: string): readonly Preference[] {
  return header.split(',', maxPreferences).flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (name === '') return []
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    // An invalid weight counts as 1, as if it were missing.
    const weight =
      given !== undefined && /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given) : 1
    return [{ name, weight }]
  })
}

/** Whether a media type such as `application/json` may be sent. The most exact range decides. */
export function acceptsMediaType(header: string | undefined, mediaType: string): boolean {
  if (header === undefined || header === '*/*' || header === mediaType || header.trim() === '') return true
  const preferences = preferencesOf(header)
  const ranges = [mediaType, `${mediaType.slice(0, mediaType.indexOf('/'))}/*`, '*/*']
  for (const range of ranges) {
    const weights = preferences.filter(({ name }) => name === range).map(({ weight }) => weight)
    if (weights.length > 0) return Math.max(...weights) > 0
  }
  return false
}

/** `gzip` if the client prefers it at least as much as the plain bytes; the plain bytes in every other case. */
export function preferredCoding(header: string | undefined): ContentCoding {
  return header === undefined ? 'identity' : codingOf(header)
}

const codingOf = remembered((header): ContentCoding => {
  const preferences = readPreferences(header)
  const weightOf = (...names: readonly string[]): number | undefined =>
    preferences.find(({ name }) => names.includes(name))?.weight
  const gzip = weightOf('gzip', 'x-gzip') ?? weightOf('*') ?? 0
  const identity = weightOf('identity') ?? 0
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity'
})
