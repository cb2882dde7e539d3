/** Every code of an error of this package: its family, and whether another try is worth it. */

/**
 * `later`: the same request may succeed in a moment. `operator`: it may succeed after an operator has acted, for which no call waits.
 * `never`: the request, the key, an option or the copy has to change first.
 */
export type Again = 'later' | 'operator' | 'never'

/** The families of refusals in an answer. */
export type ServiceFamily = 'request' | 'access' | 'notFound' | 'conflict' | 'unavailable'
/** The families of errors without an answer. */
type OwnFamily = 'network' | 'invalidAnswer' | 'aborted' | 'invalidOption' | 'checkpoint' | 'massRemoval'
type Family = ServiceFamily | OwnFamily

/**
 * The codes of PROTOCOL §7, codes for refusals of other servers and proxies that give none, and codes for errors
 * without an answer. Every request of this package can be repeated without harm.
 */
const codes = {
  invalid_parameter: ['request', 'never'],
  invalid_target: ['request', 'never'],
  invalid_host: ['request', 'never'],
  malformed_request: ['request', 'never'],
  invalid_body: ['request', 'never'],
  method_not_allowed: ['request', 'never'],
  not_acceptable: ['request', 'never'],
  body_too_large: ['request', 'never'],
  target_too_long: ['request', 'never'],
  unsupported_media_type: ['request', 'never'],
  unsupported_charset: ['request', 'never'],
  unsupported_content_encoding: ['request', 'never'],
  expectation_failed: ['request', 'never'],
  headers_too_large: ['request', 'never'],
  unsupported_http_version: ['request', 'never'],
  bad_request: ['request', 'never'],
  redirected: ['request', 'never'],
  unexpected_status: ['request', 'never'],

  unauthorized: ['access', 'never'],
  key_expired: ['access', 'never'],
  key_revoked: ['access', 'never'],
  key_disabled: ['access', 'never'],
  key_scope: ['access', 'never'],
  key_network: ['access', 'never'],
  missing_scope: ['access', 'never'],
  console_session_ended: ['access', 'never'],
  login_link_spent: ['access', 'never'],
  console_foreign_request: ['access', 'never'],
  console_needs_https: ['access', 'never'],
  console_needs_fresh_sign_in: ['access', 'never'],
  scope_not_held: ['access', 'never'],
  branch_not_granted: ['access', 'never'],
  ambiguous_tenant: ['access', 'never'],
  forbidden: ['access', 'never'],

  tenant_not_found: ['notFound', 'never'],
  key_not_found: ['notFound', 'never'],
  contact_not_found: ['notFound', 'never'],
  event_not_found: ['notFound', 'never'],
  subject_not_found: ['notFound', 'never'],
  erasure_not_found: ['notFound', 'never'],
  deletion_not_found: ['notFound', 'never'],
  hold_not_found: ['notFound', 'never'],
  restriction_not_found: ['notFound', 'never'],
  path_not_found: ['notFound', 'never'],
  not_found: ['notFound', 'never'],

  tenant_exists: ['conflict', 'never'],
  tenant_in_use: ['conflict', 'never'],
  key_ended: ['conflict', 'never'],
  id_conflict: ['conflict', 'never'],
  unknown_subject: ['conflict', 'never'],
  cursor_beyond_head: ['conflict', 'never'],
  epoch_changed: ['conflict', 'never'],
  event_is_latest: ['conflict', 'never'],
  moment_expired: ['conflict', 'never'],
  on_hold: ['conflict', 'never'],
  unknown_conflict: ['conflict', 'never'],
  // A 409 without its body, which a proxy has replaced: only the code in it would say what to do.
  conflict: ['conflict', 'later'],

  request_timeout: ['unavailable', 'later'],
  too_early: ['unavailable', 'later'],
  rate_limited: ['unavailable', 'later'],
  too_many_failures: ['unavailable', 'later'],
  too_many_at_once: ['unavailable', 'later'],
  too_many_snapshots: ['unavailable', 'later'],
  too_many_waiting: ['unavailable', 'later'],
  view_being_made: ['unavailable', 'later'],
  internal_error: ['unavailable', 'later'],
  storage_damaged: ['unavailable', 'operator'],
  storage_full: ['unavailable', 'later'],
  storage_unavailable: ['unavailable', 'later'],
  clock_behind: ['unavailable', 'operator'],
  overloaded: ['unavailable', 'later'],
  epoch_required: ['unavailable', 'operator'],
  tenant_moving: ['unavailable', 'later'],
  maintenance: ['unavailable', 'later'],
  sequence_not_reached: ['unavailable', 'later'],
  bad_gateway: ['unavailable', 'later'],
  unavailable: ['unavailable', 'later'],
  gateway_timeout: ['unavailable', 'later'],

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
