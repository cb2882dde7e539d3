/** The members of one published event other than its payload, and their allowed values. */
import {
  categories,
  eventTypeNumber,
  feedNames,
  feeds,
  hasAtMost,
  isUuid,
  nearestName,
  ownReferenceRemedy,
  parseUuid,
  spelledAs,
  standardCode,
} from '@property-events/protocol'
import type { Category, EventTypeCatalogue, FeedName, ProblemError } from '@property-events/protocol'
import { quoteInput } from '../http/requests/echo-text.ts'
import { fault, maxReported } from './publication-body.ts'
import type { Faults } from './publication-body.ts'

export interface ItemMembers {
  readonly payload: unknown
  readonly remove:
    | { readonly subject: string; readonly subjectId: string; readonly reason: string | undefined }
    | undefined
  readonly eventType: string | undefined
  /** Lower case. */
  readonly id: string | undefined
  /** As sent. */
  readonly transactionId: string | undefined
  readonly category: Category | undefined
}

export type MembersReading = { readonly kind: 'members'; readonly members: ItemMembers } | Faults

const ofRemoval = ['agentRef', 'reason']
const allowedOfRemoval = 'Allowed are agentRef and reason: {"remove": {"agentRef": "…", "reason": 9}}.'
const allowed = ['payload', 'remove', 'eventType', 'id', 'transactionId', 'category']
const assigned = ['tenantId', 'sequenceNumber', 'createdDate', 'eventTypeShortCode']

/** Reads one item. Null counts as absent. */
export function readItemMembers(
  value: unknown,
  feed: FeedName,
  catalogue: EventTypeCatalogue,
): MembersReading {
  if (!isObject(value)) {
    const message = `An event is an object such as {"payload": {…}}; this is ${kindOf(value)}.`
    return fault('', 'wrong_type', message)
  }
  const bare = barePayload(value, feed)
  if (bare !== undefined) return fault('/payload', 'payload_or_remove', bare)
  const errors: ProblemError[] = []
  const report = (member: string, code: string, message: string): undefined => {
    errors.push({ pointer: `/${member}`, code, message })
    return undefined
  }
  for (const name of Object.keys(value)) {
    if (errors.length >= maxReported) break
    if (allowed.includes(name)) continue
    const shown = name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
    if (assigned.includes(name))
      report(shown, 'assigned_by_service', 'The service sets this itself; leave it out.')
    else report(shown, 'unknown_member', notAMember(name))
  }

  const { eventType, id, transactionId, category, payload } = value
  const given: ItemMembers = {
    payload,
    remove: value['remove'] == null ? undefined : readRemoval(value['remove'], feed, report),
    eventType:
      eventType == null
        ? undefined
        : typeof eventType === 'string' && eventTypeNumber(catalogue, feed, eventType) !== undefined
          ? eventType
          : report(
              'eventType',
              'unknown_event_type',
              `${shown(eventType)}, which is not an event type of this feed. Allowed are ${Object.keys(catalogue[feed]).join(', ')}; or leave it out.`,
            ),
    id: id == null ? undefined : uuidMember('id', id, report)?.toLowerCase(),
    transactionId: transactionId == null ? undefined : uuidMember('transactionId', transactionId, report),
    category: category == null ? undefined : readCategory(category, feed, report),
  }
  const hasPayload = payload != null
  const hasRemoval = value['remove'] != null
  if (hasPayload === hasRemoval) {
    report(
      hasPayload ? 'remove' : 'payload',
      'payload_or_remove',
      hasPayload
        ? 'Both "payload" and "remove" were sent; send one of them.'
        : 'Neither "payload" nor "remove" was sent. Publish with {"payload": {…}}, or remove with {"remove": {…}}.',
    )
  } else if (hasPayload && typeof payload !== 'string' && !isObject(payload)) {
    report(
      'payload',
      'wrong_type',
      `The payload is an object, or a string of JSON text; this is ${kindOf(payload)}.`,
    )
  }
  if (hasRemoval && given.eventType !== undefined) {
    report('eventType', 'payload_or_remove', 'A removal has its own event type; leave this out.')
  }
  return errors.length > 0 ? { kind: 'faults', errors } : { kind: 'members', members: given }
}

/** What to do about a payload, or a removal, that was sent without the event around it. */
function barePayload(value: Readonly<Record<string, unknown>>, feed: FeedName): string | undefined {
  if (value['payload'] != null || value['remove'] != null) return undefined
  const names = Object.keys(value)
  if (feed === 'property' && value['agentRef'] != null && names.every((name) => ofRemoval.includes(name))) {
    return 'To remove a property, send the removal in a member named remove: {"remove": {"agentRef": …}}.'
  }
  const sent = feedNames.find((name) => spelledAs(feeds[name].subjectField, names) !== undefined)
  if (sent === undefined) return undefined
  const { subjectField, publishPath } = feeds[sent]
  const wrapped = `{"payload": {"${subjectField}": …}}`
  return sent === feed
    ? `This is a payload alone. Put it in a member named payload: ${wrapped}.`
    : `This looks like a ${sent}: publish it with POST ${publishPath}, as ${wrapped}.`
}

function notAMember(name: string): string {
  if (/^(?:events|items|records|properties|listings|contacts)$/i.test(name))
    return 'Not a member of an event. Send several events as an array, without an object around it: [{"payload": {…}}, {"payload": {…}}].'
  const isPayload = /^(?:data|body|event|property|listing|contact)$/i.test(name)
  const nearest = isPayload ? 'payload' : nearestName(name, allowed)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `Not a member of an event.${meant} Allowed are ${allowed.join(', ')}.`
}

type Report = (member: string, code: string, message: string) => undefined

function uuidMember(member: string, value: unknown, report: Report): string | undefined {
  if (typeof value === 'string' && isUuid(value)) return value
  return report(
    member,
    'not_a_uuid',
    `${shown(value)}. A UUID is 8-4-4-4-12 hexadecimal digits, without braces or prefix; or leave it out.`,
  )
}

function readCategory(value: unknown, feed: FeedName, report: Report): Category | undefined {
  if (feed !== 'property')
    return report('category', 'unknown_member', 'Contact events have no category; leave it out.')
  const category = categories.find((name) => name === value)
  return (
    category ??
    report(
      'category',
      'unknown_category',
      `${shown(value)}. Allowed are ${categories.join(' and ')}; or leave it out.`,
    )
  )
}

/** `{ agentRef, reason? }` (D26). The reason is a code of the removal list or a short text. */
function readRemoval(value: unknown, feed: FeedName, report: Report): ItemMembers['remove'] {
  if (feed !== 'property') {
    const gone = standardCode(feed, 'gone')
    const message = `A contact is removed by its event type: {"payload": {"contact_ref": "…"}, "eventType": "${gone}"}.`
    return report('remove', 'unknown_member', message)
  }
  if (!isObject(value))
    return report(
      'remove',
      'wrong_type',
      `A removal is an object: {"remove": {"agentRef": "…", "reason": 9}}; ${kindOf(value)} was sent.`,
    )
  for (const name of Object.keys(value)) {
    if (!ofRemoval.includes(name)) {
      const nearest = nearestName(name, ofRemoval)
      const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
      return report('remove', 'unknown_member', `Not a member of a removal.${meant} ${allowedOfRemoval}`)
    }
  }
  const { agentRef, reason } = value
  const subjectId = typeof agentRef === 'string' ? parseUuid(agentRef) : undefined
  if (typeof agentRef !== 'string' || subjectId === undefined) {
    const message = `The agentRef of the property must be a UUID; ${shown(agentRef)}. ${ownReferenceRemedy}.`
    return report('remove/agentRef', 'not_a_uuid', message)
  }
  const isCode = Number.isInteger(reason) && Number(reason) >= 0
  const isText = typeof reason === 'string' && hasAtMost(reason, 200)
  if (reason != null && !isCode && !isText) {
    return report(
      'remove/reason',
      'wrong_type',
      'The reason of a removal must be a whole number (7 to 12) or a text of at most 200 characters.',
    )
  }
  return { subject: agentRef, subjectId, reason: reason == null ? undefined : JSON.stringify(reason) }
}

/** What was sent, of members that are not about a person. */
function shown(value: unknown): string {
  return `${typeof value === 'string' ? quoteInput(value) : kindOf(value)} was sent`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
