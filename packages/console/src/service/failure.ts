/** Why there is no answer, as a value: one sentence, what to do about it, and the id under which the service's log has it. */
import type { Problem, ProblemCode, ProblemError } from '@property-events/protocol/wire'

/** The outcome of a request. */
export type Outcome<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly status: number; readonly head: Headers }
  /** The tag still matches. */
  | { readonly kind: 'unchanged' }
  /** The caller ended it. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failure'; readonly failure: Failure }

export interface Failure {
  /**
   * `problem`: the service refuses the request. `ended`: it refuses it because the session is over. `away`: no answer came. `odd`: the
   * answer is not one of this service, such as the page of a proxy.
   */
  readonly kind: 'problem' | 'ended' | 'away' | 'odd'
  /** The problem's own sentence. */
  readonly sentence: string
  /** What to do. */
  readonly remedy: string
  /** The stable code of PROTOCOL §7, if the service answered. */
  readonly code: string | undefined
  readonly status: number | undefined
  readonly requestId: string | undefined
  /** Which parts of the request were wrong, and why. */
  readonly faults: readonly string[]
  /** The same, with the places in the body. */
  readonly errors: readonly ProblemError[]
  /** When another try can succeed, according to the service. */
  readonly retryAfterSeconds: number | undefined
}

/** Codes after which the session is over. The others with status 401 concern one operation (`key_scope`). */
const endingCodes: readonly string[] = [
  'console_session_ended',
  'key_expired',
  'key_revoked',
  'key_disabled',
] satisfies readonly ProblemCode[]

const nothing = {
  code: undefined,
  status: undefined,
  requestId: undefined,
  faults: [],
  errors: [],
  retryAfterSeconds: undefined,
} as const

/** No answer: the service or the network is away. */
export function awayFailure(): Failure {
  return {
    ...nothing,
    kind: 'away',
    sentence: 'The service did not answer.',
    remedy:
      'The console tries again by itself. If this lasts, check that the service runs and can be reached.',
  }
}

/** An answer that is not ours, or a view that met something unknown. */
export function oddFailure(sentence: string, status?: number, requestId?: string): Failure {
  return {
    ...nothing,
    kind: 'odd',
    sentence,
    status,
    requestId,
    remedy:
      'Load the page again: the service may be newer than this page. If this lasts, check what is between the browser and the service.',
  }
}

const restAfterSilenceMs = 3_000

/** Milliseconds until the same can be tried again automatically; `undefined`: somebody has to act first. */
export function restAfter({ kind, retryAfterSeconds }: Failure): number | undefined {
  if (kind === 'away') return restAfterSilenceMs
  return retryAfterSeconds === undefined ? undefined : Math.max(1, retryAfterSeconds) * 1_000
}

/** The failure of an answer with status 400 or more. `text` is its body. */
export function failureOf(status: number, text: string, head: (name: string) => string | null): Failure {
  const problem = readProblem(text)
  const retryAfter = Number(head('retry-after') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined
  if (problem === undefined) {
    const sentence = `The answer has status ${status} and is not from this service.`
    return { ...oddFailure(sentence, status, head('x-request-id') ?? undefined), retryAfterSeconds }
  }
  const isEnded = status === 401 && endingCodes.includes(problem.code)
  return {
    kind: isEnded ? 'ended' : 'problem',
    sentence: problem.detail,
    remedy: remedyOf(problem, retryAfterSeconds),
    code: problem.code,
    status,
    requestId: problem.requestId,
    errors: problem.errors ?? [],
    faults: (problem.errors ?? []).map(({ message }) => message).filter((text) => text !== problem.detail),
    retryAfterSeconds,
  }
}

function readProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isProblem(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null || !('detail' in value) || !('code' in value)) return false
  return typeof value.detail === 'string' && typeof value.code === 'string'
}

/** For people who look at a service; the reference tells programs what to do. */
const remedies: Readonly<Record<string, string>> = {
  login_link_spent: 'Get a fresh link: property-events console.',
  console_needs_fresh_sign_in:
    'Paste the key again, or a fresh link: property-events console prints one. The link can also be opened in another tab.',
  console_foreign_request: 'Open the console at its own address, not within another page.',
  console_needs_https: 'Open the console over https, or on the machine of the service itself.',
  unauthorized: 'Paste the whole key, from pev_ to its end. If it is right, ask an operator for a new one.',
  key_expired: 'Sign in with another key.',
  key_revoked: 'Sign in with another key.',
  key_disabled: 'Sign in with another key: the agency is suspended or leaving.',
  missing_scope: 'Sign in with a key that has this scope, or ask an operator for one.',
  key_scope: 'Sign in with a key that may read this feed, or ask an operator for one.',
  key_network:
    'Use the console from a network that the key is allowed for, or ask an operator for another key.',
  scope_not_held: 'Sign in with a key that holds these scopes: nobody can give more than they hold.',
  tenant_not_found: 'Check the address: the agency may have been deleted, or this key may not see it.',
  subject_not_found: 'Check the reference and the chosen agency.',
  contact_not_found: 'Check the reference and the chosen agency.',
  event_not_found: 'Check the id and the chosen agency.',
  key_not_found: 'Check the id of the key, the part after pev_.',
  epoch_changed: 'Load the page again: the feed has begun a new epoch.',
  cursor_beyond_head: 'Load the page again: the feed has begun a new epoch.',
  epoch_required: 'An operator has to begin a new epoch: property-events epoch start.',
  clock_behind: 'An operator has to check the clock of the service.',
  storage_damaged: 'An operator has to restore the store.',
  storage_full: 'An operator has to make room on the disk of the store.',
  internal_error:
    'Try again. If this lasts, send the request id to the operator: the log has the cause under it.',
} satisfies Partial<Record<ProblemCode, string>>

function remedyOf({ code, status }: Problem, retryAfterSeconds: number | undefined): string {
  const known = remedies[code]
  if (known !== undefined) return known
  if (retryAfterSeconds !== undefined) return `Try again in ${Math.max(1, retryAfterSeconds)} s.`
  if (status === 401) return 'Sign in again.'
  if (status === 400) return 'Change what was sent, and try again.'
  if (status >= 500) return 'Try again in a few seconds.'
  return 'The reference says what this code means and what to do.'
}
