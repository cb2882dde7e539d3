/** Checks a payload against its feed's contract, and finds what the append needs to know about it. */
import {
  adviseContact,
  adviseProperty,
  adviseShown,
  checkContactPayload,
  checkPropertyPayload,
  feeds,
  findUnknownFields,
  impliesLettings,
  maxAdvice,
  meaningOf,
  memberOf,
  priceLooksLike,
} from '@property-events/protocol'
import type { Category, FeedName, ProblemError, PublishWarning } from '@property-events/protocol'

export type Advice = Omit<PublishWarning, 'index'>

export type PayloadCheck =
  | {
      readonly kind: 'checked'
      /** The subject's UUID in the payload's spelling (D15, D16). */
      readonly subject: string
      readonly published: boolean | undefined
      readonly branch: string | undefined
      /** Only for properties. */
      readonly updateDate: string | undefined
      readonly impliedCategory: Category | undefined
      readonly priceLooksLike: Category | undefined
      readonly advice: readonly Advice[]
      /** The number of members that the contract does not know and that do not look like one it knows. */
      readonly unknownFields: number
    }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** Contract faults refuse the event; advice goes into the receipt. `eventType` (a short code) and `category` are as sent. */
export function checkPayload(
  feed: FeedName,
  payload: unknown,
  eventType: string | undefined,
  category: Category | undefined,
): PayloadCheck {
  const faults =
    feed === 'property'
      ? checkPropertyPayload(payload, { publishedRequired: eventType === undefined })
      : checkContactPayload(payload)
  if (faults.length > 0) {
    return {
      kind: 'faults',
      errors: faults.map((fault) => ({ ...fault, pointer: `/payload${fault.pointer}` })),
    }
  }
  const subject = memberOf(payload, feeds[feed].subjectField)
  const published = memberOf(payload, 'published')
  const branch = memberOf(payload, 'branch_id')
  const updateDate = feed === 'property' ? memberOf(payload, 'update_date') : undefined
  const impliedCategory = feed === 'property' && impliesLettings(payload) ? 'lettings' : undefined
  const unknown = findUnknownFields(feed, payload)
  const others =
    feed === 'property'
      ? [
          ...(isShown(published, eventType) ? adviseShown(payload) : []),
          ...contradiction(published, eventType),
          ...adviseProperty(payload, category ?? impliedCategory),
        ]
      : adviseContact(payload)
  return {
    kind: 'checked',
    subject: typeof subject === 'string' ? subject : '',
    published: feed === 'property' && typeof published === 'boolean' ? published : undefined,
    branch: typeof branch === 'string' && branch !== '' ? branch : undefined,
    updateDate: typeof updateDate === 'string' ? updateDate : undefined,
    impliedCategory,
    priceLooksLike: feed === 'property' ? priceLooksLike(payload) : undefined,
    advice: [...unknown.misspelled, ...others].slice(0, maxAdvice),
    unknownFields: unknown.others,
  }
}

/** Whether consumers will show the property, as far as the event itself shows. */
function isShown(published: unknown, eventType: string | undefined): boolean {
  const named = meaningOf('property', eventType)
  return named !== 'gone' && (named === 'appeared' || published !== false)
}

/** The named type decides what consumers do; a payload that contradicts it is probably the publisher's mistake. */
function contradiction(published: unknown, eventType: string | undefined): readonly Advice[] {
  const named = meaningOf('property', eventType)
  const contradicts =
    (named === 'gone' && published === true) || (named === 'appeared' && published === false)
  if (!contradicts) return []
  const message = `The event type ${eventType} was named, but the payload says published ${String(published)}.`
  return [{ pointer: '/published', code: 'event_type_contradicts_payload', message }]
}
