/** From a refusal to the answer that a client gets (D6): RFC 9457 members, as application/json because of spec §4. */
import type { Problem, ProblemError } from '@property-events/protocol'
import { uncachedJson } from '../exchange.ts'
import type { TextAnswer } from '../exchange.ts'
import { problems } from './problem.ts'
import type { ProblemCode, ProblemKind, Refusal } from './problem.ts'

/** Seconds after which a 503 is worth another try. */
const retryAfterSeconds: Partial<Record<ProblemCode, number>> = {
  storage_full: 30,
  storage_unavailable: 5,
  clock_behind: 30,
  overloaded: 1,
  epoch_required: 60,
  tenant_moving: 2,
  sequence_not_reached: 1,
  too_many_snapshots: 5,
  too_many_waiting: 5,
}

interface ProblemPlace {
  /** Path of the request, without its query. */
  readonly instance: string
  readonly requestId: string
  /** Path prefix of the service: the type of a problem points into its own /docs. */
  readonly basePath: string
}

/** The first fault, and the number of faults: many clients log only `detail`. */
function detailOf(errors: readonly ProblemError[] = []): string | undefined {
  const [first] = errors
  if (first === undefined) return undefined
  const place = first.parameter ?? first.pointer ?? ''
  const more = errors.length > 1 ? ` And ${errors.length - 1} more; see errors.` : ''
  return `${place === '' ? '' : `${place}: `}${first.message}${more}`
}

/** The whole answer to a refused request: its body is the JSON text of a `Problem`. */
export function problemAnswer(refusal: Refusal, place: ProblemPlace): TextAnswer {
  const { status, title, detail }: ProblemKind = problems[refusal.code]
  const problem: Problem = {
    type: `${place.basePath}/docs#${refusal.code}`,
    title,
    status,
    detail: refusal.detail ?? detailOf(refusal.errors) ?? detail,
    instance: place.instance,
    code: refusal.code,
    requestId: place.requestId,
    ...(refusal.errors === undefined ? {} : { errors: [...refusal.errors] }),
  }
  const retryAfter = retryAfterSeconds[refusal.code]
  return {
    kind: 'text',
    status,
    headers: {
      ...uncachedJson,
      // RFC 9110 §11.6.1: every 401 carries a challenge. The scheme is our own; the parameter says where the key goes.
      ...(status === 401 ? { 'www-authenticate': 'ApiKey realm="property-events", header="x-api-key"' } : {}),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...refusal.headers,
    },
    body: JSON.stringify(problem),
  }
}
