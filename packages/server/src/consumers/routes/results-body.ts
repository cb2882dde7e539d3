/** The body of a consumer's results: an array of at most 1,000 (PROTOCOL §14). Faults repeat no text. */
import { hasAtMost, nearestName, parseUuid, readJson } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { ConsumerResult } from '../consumer.ts'

type Reported = Pick<ConsumerResult, 'sequenceNumber' | 'outcome' | 'code' | 'message' | 'url'>

export interface ResultItem extends Reported {
  readonly agentRef: string
}

export type ResultsReading =
  | { readonly kind: 'results'; readonly results: readonly ResultItem[] }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

export const maxResults = 1_000
/** A result with the longest texts has some 3 kB; most have 200 bytes. */
export const maxResultsBytes = 4 * 2 ** 20
export const maxMessageLength = 500
export const maxUrlLength = 2_048
export const outcomes = ['live', 'held', 'refused'] as const
const maxFaults = 100

const members: readonly string[] = ['agentRef', 'sequenceNumber', 'outcome', 'code', 'message', 'url']

/** `text`: valid UTF-8, decoded. */
export function readResults(text: string): ResultsReading {
  const reading = readJson(text, { maxDepth: 3 })
  const value: unknown = reading.kind === 'read' ? reading.value : undefined
  if (!Array.isArray(value)) {
    const message =
      'The body must be an array such as [{"agentRef":"…","sequenceNumber":7,"outcome":"live","url":"https://…"}].'
    return { kind: 'faults', errors: [{ pointer: '', code: 'not_an_array', message }] }
  }
  if (value.length === 0 || value.length > maxResults) {
    const message = `The array must have 1 to ${maxResults} results; this one has ${value.length}.`
    return { kind: 'faults', errors: [{ pointer: '', code: 'wrong_length', message }] }
  }
  const results: ResultItem[] = []
  const errors: ProblemError[] = []
  for (const [index, item] of value.entries()) {
    const read = readResult(item, index)
    if ('errors' in read) errors.push(...read.errors)
    else results.push(read)
    if (errors.length >= maxFaults) break
  }
  return errors.length > 0
    ? { kind: 'faults', errors: errors.slice(0, maxFaults) }
    : { kind: 'results', results }
}

function readResult(item: unknown, index: number): ResultItem | { readonly errors: readonly ProblemError[] } {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    const message = 'A result must be an object with agentRef, sequenceNumber and outcome.'
    return { errors: [{ pointer: `/${index}`, code: 'not_an_object', message }] }
  }
  const given = new Map<string, unknown>(Object.entries(item).filter(([, value]) => value !== null))
  const errors: ProblemError[] = []
  const fault = (member: string, message: string): undefined => {
    errors.push({
      pointer: `/${index}/${member}`,
      code: given.has(member) ? 'not_allowed' : 'missing',
      message,
    })
    return undefined
  }
  const unknown = [...given.keys()].find((name) => !members.includes(name))
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, members)
    const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    const message = `This result has a member that is unknown.${meant} Allowed: ${members.join(', ')}.`
    errors.push({ pointer: `/${index}`, code: 'unknown_member', message })
  }
  const reference = given.get('agentRef')
  const agentRef =
    (typeof reference === 'string' ? parseUuid(reference) : undefined) ??
    fault('agentRef', 'agentRef must be a UUID: 8-4-4-4-12 hexadecimal digits, with hyphens.')
  const number = given.get('sequenceNumber')
  const sequenceNumber =
    typeof number === 'number' && Number.isSafeInteger(number) && number > 0
      ? number
      : fault('sequenceNumber', 'sequenceNumber must be that of the event, a whole number.')
  const outcome =
    outcomes.find((one) => one === given.get('outcome')) ??
    fault('outcome', `outcome must be one of ${outcomes.join(', ')}.`)
  const texts = readTexts(given, fault)
  if (errors.length > 0 || agentRef === undefined || sequenceNumber === undefined || outcome === undefined) {
    return { errors }
  }
  return { agentRef, sequenceNumber, outcome, ...texts }
}

function readTexts(
  given: ReadonlyMap<string, unknown>,
  fault: (member: string, message: string) => undefined,
): Pick<ResultItem, 'code' | 'message' | 'url'> {
  const text = (member: string, isAllowed: (value: string) => boolean, words: string): string | undefined => {
    const value = given.get(member)
    if (value === undefined) return undefined
    return typeof value === 'string' && isAllowed(value) ? value : fault(member, words)
  }
  return {
    code: text(
      'code',
      (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value),
      'code must have 1 to 64 letters, digits, ".", "_" and "-".',
    ),
    message: text(
      'message',
      (value) => value.length > 0 && hasAtMost(value, maxMessageLength) && !hasControls(value),
      `message must have 1 to ${maxMessageLength} characters and no control characters, and name no person.`,
    ),
    url: text(
      'url',
      isWebAddress,
      `url must be an http or https address of at most ${maxUrlLength} characters, without a password.`,
    ),
  }
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

function isWebAddress(text: string): boolean {
  if (text.length > maxUrlLength || !/^https?:\/\//i.test(text) || hasControls(text) || /\s/.test(text))
    return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}
