/**
 * Reads the body of a publish request as drafts (PROTOCOL §4): strict JSON, the members of an item, the payload's own
 * text, the contract's types. Either every event of the request can be stored, or all faults are reported and no event
 * is stored (P6, P11).
 */
import { readJsonInPieces } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { draftCollector } from './collect-drafts.ts'
import type { PublicationReading } from './collect-drafts.ts'
import type { DraftContext } from './draft-of-item.ts'
import { itemsOf, maxReported } from './publication-body.ts'
import type { BodyFault, BodyLimits, Item } from './publication-body.ts'
import { withPlace } from './syntax-position.ts'

export interface PublicationLimits extends BodyLimits {
  readonly maxEvents: number
}

/** Limits of PROTOCOL §4: 1,000 events, 256 KiB a payload, 32 levels. */
export const defaultPublicationLimits: PublicationLimits = {
  maxEvents: 1_000,
  maxPayloadBytes: 256 * 1_024,
  maxPayloadDepth: 32,
}

export interface Publication extends DraftContext {
  /** Valid UTF-8 without a byte order mark. */
  readonly body: Buffer
  readonly format: 'json' | 'ndjson'
  readonly limits: PublicationLimits
}

/** Reads it in one step. */
export function readPublication(publication: Publication): PublicationReading {
  const steps = publicationSteps(publication)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * The same in steps, with other work between them: at most one event in a step, and several steps for a long event. The body is read once
 * and no further than needed: to the event that is one too many, to the first fault of an array as a whole, or to the line with the last
 * fault that is reported.
 */
export function* publicationSteps(publication: Publication): Generator<void, PublicationReading> {
  const { limits } = publication
  const within = { maxDepth: limits.maxPayloadDepth }
  const collected = draftCollector(publication)
  // Faults of the body. If there is one, faults in the contents of its events are not reported.
  const faults: BodyFault[] = []
  let count = 0
  for (const given of itemsOf(publication.body, publication.format, limits)) {
    if (given !== undefined) {
      count += 1
      if (count > limits.maxEvents) {
        return faults.length > 0 ? yield* refused(publication, faults) : tooManyEvents(limits)
      }
      if (given.kind === 'fault') faults.push(given)
      else if (faults.length === 0 && !collected.full()) {
        const text = longTextOf(given, limits)
        const reading = text === undefined ? undefined : yield* readJsonInPieces(text, within)
        collected.add(given, reading)
      }
      if (faults.length >= maxReported) break
    }
    yield
  }
  if (faults.length > 0) return yield* refused(publication, faults)
  if (count === 0) return fault('', 'empty_batch', 'The request contains no event; send at least one.')
  return collected.reading()
}

function* refused(
  publication: Publication,
  faults: readonly BodyFault[],
): Generator<void, PublicationReading> {
  const noJson = faults.find(({ error }) => error.code === 'invalid_json')
  const errors: ProblemError[] = []
  for (const fault of faults) {
    errors.push(fault === noJson ? yield* withPlace(publication, fault) : fault.error)
  }
  return { kind: 'faults', errors }
}

function tooManyEvents({ maxEvents }: PublicationLimits): PublicationReading {
  const message = `The request contains more than ${maxEvents} events, the most that is allowed. Send several requests.`
  return fault('', 'too_many_events', message)
}

/** A payload text with more characters is read in pieces: full of keys, it takes milliseconds. */
const maxTextAtOnce = 65_536

/** A payload that is too large is not read at all. */
function longTextOf({ value }: Item, { maxPayloadBytes }: PublicationLimits): string | undefined {
  if (typeof value !== 'object' || value === null || !('payload' in value)) return undefined
  const { payload } = value
  const isLong =
    typeof payload === 'string' && payload.length > maxTextAtOnce && payload.length <= maxPayloadBytes
  return isLong ? payload : undefined
}

function fault(pointer: string, code: string, message: string): PublicationReading {
  return { kind: 'faults', errors: [{ pointer, code, message }] }
}
