/** Every code of an error of this package: its family, and whether another try is worth it. */
import { problemCodes } from './problem-codes.ts'

/**
 * `later`: the same request may succeed in a moment. `operator`: it may succeed after an operator has acted, for which no call waits.
 * `never`: the request, the key, an option or the copy has to change first.
 */
export type Again = 'later' | 'operator' | 'never'

/** The families of refusals in an answer. */
export type ServiceFamily = 'request' | 'access' | 'notFound' | 'conflict' | 'unavailable'
/** The families of errors without an answer. */
type OwnFamily =
  | 'network'
  | 'invalidAnswer'
  | 'aborted'
  | 'invalidOption'
  | 'checkpoint'
  | 'massRemoval'
  | 'webhook'
type Family = ServiceFamily | OwnFamily

/** Every request of this package can be repeated without harm. */
const codes = {
  ...problemCodes,

  // For refusals without a code, and for redirects.
  bad_request: ['request', 'never'],
  redirected: ['request', 'never'],
  unexpected_status: ['request', 'never'],
  forbidden: ['access', 'never'],
  not_found: ['notFound', 'never'],
  unknown_conflict: ['conflict', 'never'],
  // A 409 without its body, which a proxy has replaced: only the code in it would say what to do.
  conflict: ['conflict', 'later'],
  too_early: ['unavailable', 'later'],
  bad_gateway: ['unavailable', 'later'],
  unavailable: ['unavailable', 'later'],
  gateway_timeout: ['unavailable', 'later'],

  // For errors without an answer.
  network: ['network', 'later'],
  deadline: ['network', 'later'],
  unknown_host: ['network', 'later'],
  certificate: ['network', 'never'],
  tls: ['network', 'never'],
  not_http: ['network', 'never'],
  invalid_answer: ['invalidAnswer', 'later'],
  aborted: ['aborted', 'never'],
  invalid_option: ['invalidOption', 'never'],
  checkpoint: ['checkpoint', 'never'],
  mass_removal: ['massRemoval', 'never'],
  invalid_webhook: ['webhook', 'never'],
} as const satisfies Readonly<Record<string, readonly [Family, Again]>>

/** Every `code` of an error of this package. */
export type ErrorCode = keyof typeof codes
/** The codes of the errors of a family. */
export type CodeOf<F extends Family> = {
  [Code in ErrorCode]: (typeof codes)[Code][0] extends F ? Code : never
}[ErrorCode]
/** The codes of refusals in an answer. */
export type ServiceErrorCode = CodeOf<ServiceFamily>

export function againOf(code: ErrorCode): Again {
  return codes[code][1]
}

export function familyOf(code: ServiceErrorCode): ServiceFamily {
  return codes[code][0]
}

/** Whether a service can refuse with the codes of a family. */
const isOfService: { readonly [F in Family]: F extends ServiceFamily ? true : false } = {
  request: true,
  access: true,
  notFound: true,
  conflict: true,
  unavailable: true,
  network: false,
  invalidAnswer: false,
  aborted: false,
  invalidOption: false,
  checkpoint: false,
  massRemoval: false,
  webhook: false,
}

/** Whether this version knows a code that a service gave. */
function isServiceErrorCode(text: string): text is ServiceErrorCode {
  const table: Readonly<Record<string, readonly [Family, Again]>> = codes
  const family = Object.hasOwn(table, text) ? table[text]?.[0] : undefined
  return family !== undefined && isOfService[family]
}

const codeOfStatus: ReadonlyMap<number, ServiceErrorCode> = new Map([
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [406, 'not_acceptable'],
  [408, 'request_timeout'],
  [409, 'conflict'],
  [413, 'body_too_large'],
  [414, 'target_too_long'],
  [415, 'unsupported_media_type'],
  [417, 'expectation_failed'],
  [425, 'too_early'],
  [429, 'rate_limited'],
  [431, 'headers_too_large'],
  [500, 'internal_error'],
  [502, 'bad_gateway'],
  [503, 'unavailable'],
  [504, 'gateway_timeout'],
  [505, 'unsupported_http_version'],
])

/** The code of a refusal: the one that the service gave, if this version knows it, else one for the status. */
export function refusalCode(status: number, given: string | undefined): ServiceErrorCode {
  if (given !== undefined && isServiceErrorCode(given)) return given
  if (given !== undefined && status === 409) return 'unknown_conflict'
  return codeOfStatus.get(status) ?? 'unexpected_status'
}
