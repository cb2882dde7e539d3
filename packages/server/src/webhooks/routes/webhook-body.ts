/** The bodies of the operations on webhooks, read strictly (PROTOCOL §16.1). */
import {
  feedNames,
  feeds,
  hasAtMost,
  maxWebhookLabelLength,
  plainText,
  viewOfApiEventType,
  webhookFormats,
  webhookModes,
  webhookNumbers,
  webhookPayloads,
  webhookSubjects,
} from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readObject } from '../../http/requests/body-members.ts'
import type { BodyMembers, BodyReading } from '../../http/requests/body-members.ts'
import type { EndpointSettings } from '../endpoint.ts'
import { usualSettings } from './webhook-answer.ts'

/** Of an address and a label, in any characters. */
export const maxWebhookBodyBytes = 16_384

const settingNames = [
  'url',
  'label',
  'apiEventType',
  'payload',
  'changes',
  'mode',
  'format',
  'concurrency',
  'maxPerSecond',
  'timeoutSeconds',
] as const
const newNames = ['feed', 'events', 'after', ...settingNames] as const
const changeNames = [...settingNames, 'state'] as const

export type Place = number | 'head'

interface NewWebhookBody {
  readonly settings: EndpointSettings
  readonly after: Place
}

export function readNewWebhook(text: string): BodyReading<NewWebhookBody> {
  const example = '{"url":"https://www.example.com/hooks","feed":"property"}'
  return readObject(text, newNames, example, (members) => {
    const feed = members.oneOf('feed', feedNames) ?? 'property'
    const events = members.given.has('events') ? members.oneOf('events', webhookSubjects) : 'feed'
    if (!members.given.has('url')) members.fault('url', 'Send the address that events are to be posted to.')
    const given = readSettings(members, feed)
    const after = members.given.has('after') ? readPlace(members) : 'head'
    const settings: EndpointSettings = {
      feed,
      events: events ?? 'feed',
      ...usualSettings(feed),
      concurrency: webhookNumbers.concurrency.usual,
      timeoutSeconds: webhookNumbers.timeoutSeconds.usual,
      maxPerSecond: undefined,
      url: '',
      ...given,
    }
    checkTogether(members, settings)
    return { settings, after: after ?? 'head' }
  })
}

interface WebhookChangeBody {
  readonly settings: Partial<Omit<EndpointSettings, 'events' | 'feed'>>
  readonly state: 'enabled' | 'paused' | undefined
}

/** `present`: the settings that it changes. */
export function readWebhookChange(text: string, present: EndpointSettings): BodyReading<WebhookChangeBody> {
  return readObject(text, changeNames, '{"state":"paused"}', (members) => {
    for (const name of changeNames) {
      if (members.nulls.has(name) && name !== 'maxPerSecond')
        members.fault(name, `${name} cannot be removed; leave it out to keep it.`)
    }
    const given = readSettings(members, present.feed)
    const settings = members.nulls.has('maxPerSecond') ? { ...given, maxPerSecond: undefined } : given
    const states = ['enabled', 'paused'] as const
    const state = members.given.has('state') ? members.oneOf('state', states) : undefined
    checkTogether(members, { ...present, ...settings })
    return { settings, state }
  })
}

type SettingMembers = BodyMembers<(typeof settingNames)[number]>

/** The settings that were sent. An address is checked later, by the one place that does. */
function readSettings(members: SettingMembers, feed: FeedName): Partial<EndpointSettings> {
  const { given } = members
  const oneOf = <Word extends string>(
    member: (typeof settingNames)[number],
    allowed: readonly Word[],
  ): Word | undefined => (given.has(member) ? members.oneOf(member, allowed) : undefined)
  const changes = given.get('changes')
  if (changes !== undefined && typeof changes !== 'boolean')
    members.fault('changes', 'changes must be true or false.')
  return present({
    url: members.matching('url', () => true, 'a text: the address that events are posted to'),
    label: members.matching('label', isLabel, labelWords),
    view: readView(members, feed),
    payload: oneOf('payload', webhookPayloads),
    changes: typeof changes === 'boolean' ? changes : undefined,
    mode: oneOf('mode', webhookModes),
    format: oneOf('format', webhookFormats),
    concurrency: readCount(members, 'concurrency'),
    maxPerSecond: readCount(members, 'maxPerSecond'),
    timeoutSeconds: readCount(members, 'timeoutSeconds'),
  })
}

const labelWords = `at most ${maxWebhookLabelLength} characters, and no control characters`

function isLabel(text: string): boolean {
  return hasAtMost(text, maxWebhookLabelLength) && plainText(text) === text && text.isWellFormed()
}

/** Without the members that are `undefined`. */
function present(settings: {
  readonly [Name in keyof EndpointSettings]?: EndpointSettings[Name] | undefined
}): Partial<EndpointSettings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function readView(members: SettingMembers, feed: FeedName): EndpointSettings['view'] | undefined {
  const given = members.given.get('apiEventType')
  if (given === undefined) return undefined
  const view = typeof given === 'string' ? viewOfApiEventType(feed, given) : undefined
  const allowed = Object.keys(feeds[feed].apiEventTypes).join(', ')
  return view ?? members.fault('apiEventType', `apiEventType must be one of ${allowed} for this feed.`)
}

function readCount<Name extends string>(
  members: BodyMembers<Name>,
  name: Name & keyof typeof webhookNumbers,
): number | undefined {
  const { least, most } = webhookNumbers[name]
  const given = members.given.get(name)
  if (given === undefined) return undefined
  if (typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most) return given
  return members.fault(name, `${name} must be a whole number from ${least} to ${most}.`)
}

/** What one member says of another. */
function checkTogether(
  members: SettingMembers,
  { feed, events, payload, changes, view, mode }: EndpointSettings,
): void {
  if (feed === 'contact' && payload !== 'thin')
    members.fault('payload', 'payload must be thin for contacts: their payloads are read, and never posted.')
  if (changes && payload === 'thin')
    members.fault('changes', 'changes is for full payloads only: a thin event has none of its payload.')
  if (events === 'operations' && (changes || view !== 'all' || mode !== 'every'))
    members.fault(
      'apiEventType',
      'Leave apiEventType, changes and mode out: a webhook of operations is sent no events of the feed.',
    )
}

/** A number, or the end of the feed. */
export function readPlace(members: BodyMembers<'after'>): Place | undefined {
  const given = members.given.get('after')
  if (given === 'head') return given
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  return members.fault('after', 'after must be a whole number from 0, or head for the end of the feed.')
}

export function readSecretRequest(text: string): BodyReading<{ readonly overlapSeconds: number }> {
  return readObject(text, ['overlapSeconds'], '{"overlapSeconds":86400}', (members) => ({
    overlapSeconds: readCount(members, 'overlapSeconds') ?? webhookNumbers.overlapSeconds.usual,
  }))
}

interface CursorBody {
  readonly after: Place
  readonly epoch: 'replay' | 'skip' | undefined
}

export function readCursor(text: string): BodyReading<CursorBody> {
  return readObject(text, ['after', 'epoch'], '{"after":42}', (members) => {
    const after = readPlace(members)
    const epoch = members.given.has('epoch') ? members.oneOf('epoch', ['replay', 'skip']) : undefined
    return after === undefined ? undefined : { after, epoch }
  })
}

/** One number, or all that was given up. */
export function readResend(text: string): BodyReading<number | 'givenUp'> {
  return readObject(text, ['sequenceNumber', 'givenUp'], '{"sequenceNumber":42}', (members) => {
    const { given } = members
    if (given.has('sequenceNumber') === given.has('givenUp')) {
      return members.fault(
        'sequenceNumber',
        'Send exactly one of sequenceNumber (one event) and givenUp (all of them).',
      )
    }
    if (given.has('givenUp'))
      return given.get('givenUp') === true ? 'givenUp' : members.fault('givenUp', 'givenUp must be true.')
    const number = given.get('sequenceNumber')
    if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) return number
    return members.fault('sequenceNumber', 'sequenceNumber must be a whole number from 1.')
  })
}

export function readPause(text: string): BodyReading<boolean> {
  return readObject(text, ['paused'], '{"paused":true}', (members) => {
    const paused = members.given.get('paused')
    return typeof paused === 'boolean' ? paused : members.fault('paused', 'paused must be true or false.')
  })
}
