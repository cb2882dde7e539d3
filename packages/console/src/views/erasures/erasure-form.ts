/** The form for erasing a property or contact, and how far an erasure has got. */
import { erasureReasons } from '@property-events/protocol/plain'
import type { Erasure, ErasureRequest } from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'
import { counted } from '../../words/numbers.ts'

export interface ErasureForm {
  readonly feed: FeedName
  readonly subjectId: string
  readonly reason: string
  readonly caseRef: string
}

export interface ErasureFault {
  readonly field: keyof ErasureForm
  readonly message: string
}

type ErasureReading =
  | { readonly kind: 'body'; readonly body: ErasureRequest }
  | { readonly kind: 'faults'; readonly faults: readonly ErasureFault[] }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The service checks it again. */
export function readErasureForm({ feed, subjectId, reason, caseRef }: ErasureForm): ErasureReading {
  const faults: ErasureFault[] = []
  const subject = subjectId.trim().toLowerCase()
  if (!uuid.test(subject)) faults.push({ field: 'subjectId', message: 'The reference must be a UUID.' })
  const why = erasureReasons.find((known) => known === reason)
  if (why === undefined) faults.push({ field: 'reason', message: 'Choose a reason.' })
  const ref = caseRef.trim()
  if (ref !== '' && !/^[A-Za-z0-9-]{1,40}$/.test(ref)) {
    faults.push({
      field: 'caseRef',
      message: 'At most 40 letters, digits and hyphens, and no person’s name.',
    })
  }
  if (why === undefined || faults.length > 0) return { kind: 'faults', faults }
  const request = { feed, subjectId: subject, reason: why }
  return { kind: 'body', body: ref === '' ? request : { ...request, caseRef: ref } }
}

/** Whether the reference was typed a second time, as required before anything is erased. */
export function isTypedAgain({ subjectId }: ErasureForm, typed: string): boolean {
  return typed.trim() !== '' && typed.trim().toLowerCase() === subjectId.trim().toLowerCase()
}

/** `data_subject_request` as `data subject request`. */
export function reasonWords(reason: string): string {
  return reason.replaceAll('_', ' ')
}

const states: Readonly<Record<string, string>> = {
  reducing: 'removing payloads',
  reduced: 'removed from the store; nodes are being told',
  unreachable: 'no longer in any response',
  overwritten: 'overwritten on the disk',
}

/** How far it has got, in words. A state that this page does not know is shown unchanged (PROTOCOL §9). */
export function stateWords({
  state,
  reduced,
  events,
}: Pick<Erasure, 'reduced' | 'events'> & { readonly state: string }): string {
  const words = states[state] ?? state
  return state === 'reducing' ? `${words}: ${reduced} of ${counted(events, 'event')}` : words
}
