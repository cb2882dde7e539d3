/** Webhooks: addresses to which the events of a feed are posted, and what became of each try (PROTOCOL §16). */
import Type from 'typebox'
import {
  feedNames,
  feeds,
  maxWebhookLabelLength,
  maxWebhookUrlLength,
  webhookFormats,
  webhookModes,
  webhookNumbers,
  webhookOutcomes,
  webhookPayloads,
  webhookReasons,
  webhookStates,
  webhookSubjects,
} from '../src/plain.ts'
import {
  epoch,
  feedName,
  listOf,
  moment,
  oneOf,
  orNull,
  part,
  refTo,
  text,
  textOrNull,
  time,
  uuid,
  whole,
} from './parts.ts'

const { concurrency, maxPerSecond, timeoutSeconds, overlapSeconds } = webhookNumbers

function between({ least, most }: { readonly least: number; readonly most: number }, description: string) {
  return Type.Integer({ minimum: least, maximum: most, description })
}

const apiEventTypes = Object.values(feeds).flatMap((feed) => Object.keys(feed.apiEventTypes))

const settings = {
  url: Type.String({
    maxLength: maxWebhookUrlLength,
    description: 'Where events are posted: an https address that is public.',
  }),
  label: Type.String({ maxLength: maxWebhookLabelLength, description: 'For people: what it is for.' }),
  apiEventType: oneOf(apiEventTypes, 'Which events, as in a list.'),
  payload: oneOf(webhookPayloads, '`thin`: without the payload. Contacts are always thin.'),
  changes: Type.Boolean({
    description: 'Adds what has changed since the version that this webhook acknowledged last.',
  }),
  mode: oneOf(webhookModes, '`latest`: an event is left out when a later one of its property is known.'),
  format: oneOf(webhookFormats, '`cloudevents`: each event as a CloudEvent in JSON.'),
  concurrency: between(concurrency, 'Requests at once.'),
  maxPerSecond: orNull(between(maxPerSecond, 'Requests a second.'), 'Null: no limit.'),
  timeoutSeconds: between(timeoutSeconds, 'How long an answer may take.'),
}
const events = oneOf(
  webhookSubjects,
  '`operations`: what happens to the other webhooks of the feed, in place of its events. It never changes.',
)

const secret = part(
  'WebhookSecretState',
  Type.Object({
    id: uuid('Of the secret.'),
    createdAt: moment('When it was made.'),
    endsAt: time('It signs until then; null: until it is replaced.'),
  }),
)
const secretText = text('What requests are signed with. It is shown only in this answer.')

const webhook = {
  id: uuid('Of the webhook.'),
  tenantId: uuid('The tenant.'),
  feed: feedName,
  events,
  ...settings,
  state: oneOf(webhookStates, 'Only `enabled` sends.'),
  reason: orNull(
    Type.Unsafe({ enum: [...webhookReasons] }),
    'Why it does not send; null: it does. Further ones may come.',
  ),
  stateSince: time('Since when it does not send.'),
  keyId: text('Of the key whose rights it has.'),
  createdAt: moment('When it was made.'),
  cursor: Type.Object(
    {
      settled: whole('Nothing up to this number is left, but for what waits.'),
      epoch,
      acknowledged: orNull(whole('A number.'), 'Of the event that was acknowledged last.'),
      acknowledgedAt: time('When that was.'),
    },
    { description: 'How far it is, as last written.' },
  ),
  waiting: whole('Properties or contacts whose oldest event is tried again.'),
  givenUp: whole('Events that were given up.'),
  failingSince: time('It has been failing since then; null: it is not.'),
  secrets: Type.Array(secret, { description: 'The newest first. Each of them signs.' }),
}

const optional = {
  label: Type.Optional(settings.label),
  apiEventType: Type.Optional(oneOf(apiEventTypes, 'Which events, as in a list. Left out: all of the feed.')),
  payload: Type.Optional(settings.payload),
  changes: Type.Optional(settings.changes),
  mode: Type.Optional(settings.mode),
  format: Type.Optional(settings.format),
  concurrency: Type.Optional(settings.concurrency),
  maxPerSecond: Type.Optional(settings.maxPerSecond),
  timeoutSeconds: Type.Optional(settings.timeoutSeconds),
}
/** A number, or the end of the feed. */
const place = (description: string) =>
  Type.Union([whole('A number.'), Type.Unsafe({ enum: ['head'] })], { description })

const delivery = part(
  'WebhookDelivery',
  Type.Object({
    number: whole('Of the try: rises with time.'),
    at: moment('When it ended.'),
    messageId: text('As in `webhook-id`.'),
    sequenceNumber: orNull(whole('Of the event.'), 'Null: it was no event of the feed.'),
    subject: orNull(uuid('The property or contact.'), 'Null: it was no event of the feed.'),
    outcome: oneOf(webhookOutcomes, 'What became of it.'),
    status: orNull(Type.Integer(), 'Of the answer; null: there was none.'),
    milliseconds: whole('How long it took.'),
    answer: textOrNull('The beginning of the answer, or why there was none; null: it was not kept.'),
  }),
)

const waitingSubject = part(
  'WebhookWaitingSubject',
  Type.Object({
    subject: uuid('The property or contact.'),
    sequenceNumber: whole('Of the event that is tried again.'),
    tries: whole('How often it was refused.'),
    nextTryAt: time('When it is tried next; null: at once.'),
  }),
)
const givenUpEvent = part(
  'WebhookGivenUpEvent',
  Type.Object({
    subject: uuid('The property or contact.'),
    sequenceNumber: whole('Of the event.'),
    at: moment('When it was given up.'),
  }),
)

const strict = (title: string, members: Type.TProperties, description?: string) =>
  Type.Object(members, { title, ...(description && { description }), additionalProperties: false })

/** What is posted. `data` differs by `type`. */
const message = (title: string, types: readonly string[], data: Type.TProperties) =>
  Type.Object(
    {
      type: oneOf(types, 'What the message says.'),
      timestamp: moment('When it was sent.'),
      data: Type.Object(data, { description: 'What it is about.' }),
    },
    { title },
  )

const changes = Type.Union([Type.Unsafe(listOf('PayloadChange')), Type.Null()], {
  description: 'With `changes`, as in a history.',
})
const messages = {
  WebhookEventMessage: message(
    'WebhookEventMessage',
    feedNames.map((feed) => `${feed}.event`),
    {
      feed: feedName,
      epoch,
      event: Type.Unsafe({
        description: 'Byte for byte as in the feed; `thin`: without `payload`, with `subject`.',
        ...refTo('FeedEvent'),
      }),
      changesSince: Type.Optional(
        orNull(whole('A number.'), 'With `changes`: of the version acknowledged last; null: there was none.'),
      ),
      changes: Type.Optional(changes),
    },
  ),
  WebhookEpochMessage: message('WebhookEpochMessage', ['feed.epochChanged'], {
    feed: feedName,
    epoch,
    previousEpoch: text('The epoch before.'),
    after: whole('Events of the new epoch come after it.'),
  }),
  WebhookNotice: message('WebhookNotice', ['webhook.failing', 'webhook.disabled', 'webhook.recovered'], {
    endpointId: uuid('Of the webhook.'),
    label: settings.label,
    url: text('Its address.'),
    reason: textOrNull('Why; null: it says itself.'),
    since: moment('When it happened.'),
  }),
}

export const webhooks = {
  ...messages,
  Webhook: Type.Object(webhook, {
    title: 'Webhook',
    description: 'An address to which events are posted.',
  }),
  Webhooks: Type.Object(
    {
      items: Type.Unsafe(listOf('Webhook')),
      next: orNull(uuid('Ask for those after it next.'), 'Null at the end.'),
    },
    { title: 'Webhooks' },
  ),
  NewWebhook: strict('NewWebhook', {
    url: settings.url,
    feed: feedName,
    events: Type.Optional(events),
    ...optional,
    after: Type.Optional(place('Which events: those after this number. Left out: those after `head`.')),
  }),
  MadeWebhook: Type.Object({ secret: secretText, ...webhook }, { title: 'MadeWebhook' }),
  WebhookChange: strict(
    'WebhookChange',
    {
      url: Type.Optional(settings.url),
      ...optional,
      state: Type.Optional(oneOf(['enabled', 'paused'], 'Enabled, it goes on where it stood.')),
    },
    'Members that are left out stay as they are.',
  ),
  ChangedWebhook: Type.Object(
    {
      secret: Type.Optional(text('Only if it had none that could be used: shown only in this answer.')),
      ...webhook,
    },
    { title: 'ChangedWebhook' },
  ),
  WebhookSecretRequest: strict('WebhookSecretRequest', {
    overlapSeconds: Type.Optional(between(overlapSeconds, 'How long the present secrets sign as well.')),
  }),
  WebhookTest: Type.Object(
    {
      outcome: oneOf(
        webhookOutcomes.filter((one) => one !== 'givenUp'),
        'What an event would have been after this answer.',
      ),
      status: orNull(Type.Integer(), 'Of the answer; null: there was none.'),
      answer: textOrNull('The beginning of the answer; null: there was none.'),
      milliseconds: whole('How long it took.'),
      detail: text('The same as a sentence.'),
    },
    { title: 'WebhookTest', description: 'The receiver’s answer to a test message.' },
  ),
  WebhookCursor: strict('WebhookCursor', {
    after: place('The next event that is sent is the one after it.'),
    epoch: Type.Optional(
      oneOf(
        ['replay', 'skip'],
        '`replay`: `feed.epochChanged` is sent again first. `skip`: one that was not sent yet is left out.',
      ),
    ),
  }),
  WebhookResend: strict(
    'WebhookResend',
    {
      sequenceNumber: Type.Optional(Type.Integer({ minimum: 1, description: 'Of one event.' })),
      givenUp: Type.Optional(Type.Literal(true, { description: 'Everything that was given up.' })),
    },
    'Exactly one of the two.',
  ),
  WebhookResent: Type.Object(
    { properties: whole('How many properties or contacts are sent again.') },
    { title: 'WebhookResent' },
  ),
  WebhookDeliveries: Type.Object(
    {
      items: Type.Array(delivery, { description: 'The newest first.' }),
      next: orNull(whole('Send it as `before`.'), 'Null at the end.'),
    },
    { title: 'WebhookDeliveries', description: 'Tries of the last 7 days, at most 10,000.' },
  ),
  WebhookWaiting: Type.Object(
    {
      waiting: Type.Array(waitingSubject, { description: 'At most 1,000, by their numbers.' }),
      givenUp: Type.Array(givenUpEvent, { description: 'By their numbers.' }),
      next: orNull(whole('Send it as `after` for further events that were given up.'), 'Null at the end.'),
    },
    { title: 'WebhookWaiting' },
  ),
  WebhookPause: strict('WebhookPause', {
    paused: Type.Boolean({ description: 'False: it may be enabled again by its owner, and is.' }),
  }),
} as const
