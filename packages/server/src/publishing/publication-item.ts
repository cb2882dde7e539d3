/** The members of one published event other than its payload, and their allowed values. */
import {
  categories,
  eventTypeNumber,
  feeds,
  hasAtMost,
  isUuid,
  nearestName,
  ownReferenceRemedy,
  parseUuid,
  standardCode,
} from '@property-events/protocol'
import type { Category, EventTypeCatalogue, FeedName, ProblemError } from '@property-events/protocol'
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
  if (isBarePayload(value, feed)) {
    const { subjectField } = feeds[feed]
    const message = `This is a payload by itself. Wrap it in "payload": {"payload": {"${subjectField}": …}}.`
    return fault('/payload', 'payload_or_remove', message)
  }
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
              `Allowed are ${Object.keys(catalogue[feed]).join(', ')}; or leave it out.`,
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
      'Send exactly one of "payload" and "remove".',
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

/** The payload was sent without the event around it. */
function isBarePayload(value: Readonly<Record<string, unknown>>, feed: FeedName): boolean {
  return value['payload'] == null && value['remove'] == null && Object.hasOwn(value, feeds[feed].subjectField)
}

function notAMember(name: string): string {
  const nearest = nearestName(name, allowed)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `Not a member of an event.${meant} Allowed are ${allowed.join(', ')}.`
}

type Report = (member: string, code: string, message: string) => undefined

function uuidMember(member: string, value: unknown, report: Report): string | undefined {
  if (typeof value === 'string' && isUuid(value)) return value
  return report(member, 'not_a_uuid', 'A UUID is 8-4-4-4-12 hexadecimal digits, without braces or prefix.')
}

function readCategory(value: unknown, feed: FeedName, report: Report): Category | undefined {
  if (feed !== 'property')
    return report('category', 'unknown_member', 'Contact events have no category; leave it out.')
  const category = categories.find((name) => name === value)
  return (
    category ??
    report('category', 'unknown_category', `Allowed are ${categories.join(' and ')}; or leave it out.`)
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
    return report('remove', 'wrong_type', 'A removal is an object: {"agentRef": "…", "reason": 9}.')
  for (const name of Object.keys(value)) {
    if (name !== 'agentRef' && name !== 'reason') {
      return report('remove', 'unknown_member', 'A removal has the members agentRef and reason.')
    }
  }
  const { agentRef, reason } = value
  const subjectId = typeof agentRef === 'string' ? parseUuid(agentRef) : undefined
  if (typeof agentRef !== 'string' || subjectId === undefined) {
    const message = `The agentRef of the property, a UUID. ${ownReferenceRemedy}.`
    return report('remove/agentRef', 'not_a_uuid', message)
  }
  const isCode = Number.isInteger(reason) && Number(reason) >= 0
  const isText = typeof reason === 'string' && hasAtMost(reason, 200)
  if (reason != null && !isCode && !isText) {
    return report(
      'remove/reason',
      'wrong_type',
      'A removal reason is a whole number (7 to 12) or a text of at most 200 characters.',
    )
  }
  return { subject: agentRef, subjectId, reason: reason == null ? undefined : JSON.stringify(reason) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return `a ${typeof value}`
}
