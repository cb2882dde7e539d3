/** A log line for a person at a terminal: short, the reason first, in colours where the terminal has them. */
import { plainText } from '@property-events/protocol/plain'

/** Pino's numbers. */
const levels: Readonly<Record<number, readonly [word: string, colour: number]>> = {
  20: ['debug', 2],
  30: ['info', 32],
  40: ['warn', 33],
  50: ['error', 31],
  60: ['fatal', 31],
}

const dim = 2
/** Longer values appear only in the JSON log. */
const longestValue = 120
const itemsShown = 3
const stackLinesShown = 6
/** Nobody looks for these in the line of a successful request. */
const dullMembers: readonly string[] = ['requestId', 'traceId', 'route', 'tenantId']
const faultsFrom = 500

/** Turns one line of JSON into such a line, with an error's stack below it. It returns any other line unchanged. */
export function logText(json: string, coloured: boolean): string {
  const line = parsed(json)
  if (line === undefined) return json
  const paint = (code: number, text: string): string =>
    coloured ? `\u001b[${code}m${text}\u001b[${code === dim ? 22 : 39}m` : text
  const { level, time, msg, err, ...members } = line
  const [word, colour] = levels[Number(level)] ?? ['log', dim]
  const content = msg === 'request' ? requestWords(members, paint) : { words: text(msg ?? ''), rest: members }
  const more = Object.entries(content.rest).map(
    ([name, value]) => `${paint(dim, `${plainText(name)}=`)}${text(value)}`,
  )
  const reason = errorOf(err)
  const parts = [
    paint(dim, `${String(time).slice(11, 19)}Z`),
    paint(colour, word.padEnd(5)),
    content.words,
    ...(reason === undefined ? [] : [`(${reason.message})`]),
    ...more,
  ]
  const below = (reason?.stack ?? []).map((at) => `\n    ${paint(dim, at)}`).join('')
  return `${parts.join(' ')}${below}\n`
}

type Members = Readonly<Record<string, unknown>>

/** `GET /v1/heads 200 0.4 ms`. */
function requestWords(members: Members, paint: (code: number, text: string) => string) {
  const { method, path, status, durationMs, ...others } = members
  const isFault = Number(status) >= faultsFrom
  const colour = isFault ? 31 : Number(status) >= 400 ? 33 : 32
  const rest = Object.fromEntries(
    Object.entries(others).filter(([name]) => isFault || !dullMembers.includes(name)),
  )
  return {
    words: `${text(method)} ${text(path)} ${paint(colour, text(status))} ${text(durationMs)} ms`,
    rest,
  }
}

function errorOf(err: unknown): { readonly message: string; readonly stack: readonly string[] } | undefined {
  if (typeof err !== 'object' || err === null || !('message' in err)) return undefined
  const stack = 'stack' in err && typeof err.stack === 'string' ? err.stack.split('\n') : []
  const places = stack.map((at) => at.trim()).filter((at) => at.startsWith('at '))
  return { message: text(err.message), stack: places.slice(0, stackLinesShown).map((at) => plainText(at)) }
}

function text(value: unknown): string {
  if (Array.isArray(value)) {
    const shown = value.slice(0, itemsShown).map((item: unknown) => text(item))
    const more = value.length - shown.length
    return `[${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')}]`
  }
  const written = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return plainText(written.length > longestValue ? `${written.slice(0, longestValue)}…` : written)
}

function parsed(json: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** From the least output to the most, and `silent`. */
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
