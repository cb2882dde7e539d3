/** Consumers, and what became of an event at each (PROTOCOL §14). */
import Type from 'typebox'
import { deliveryStates } from '../src/plain.ts'
import { epoch, listOf, moment, oneOf, orNull, part, text, textOrNull, time, uuid, whole } from './parts.ts'

const outcome = oneOf(
  ['live', 'held', 'refused'],
  '`live`: the site shows this version, or has taken a removed property down.',
)

const consumer = {
  keyId: text('Id of the key: the part after `pev_` in its text.'),
  name: text('As in `x-feed-consumer`; `default`: the key itself.'),
  label: text('Of the key.'),
}

const timeToLive = orNull(
  part(
    'TimeToLive',
    Type.Object({
      since: moment('Listings that were published since then are counted.'),
      live: whole('How many of them the consumer has reported live.'),
      p50Seconds: orNull(whole('Seconds.'), 'Half of these took no longer; null: there is none.'),
      p95Seconds: orNull(whole('Seconds.'), '95 of 100 took no longer.'),
      notLiveYet: whole('Listings that are still published and not reported live.'),
      oldestNotLiveAt: time('When the oldest of these was published.'),
      neverLive: whole('Listings that were removed before they were reported live.'),
    }),
  ),
  'From the publication of a listing until the consumer first reports it live, over 30 days; null: it has reported nothing about these listings.',
)

const endpoint = {
  id: uuid('The endpoint.'),
  label: text('Of the endpoint.'),
  state: oneOf(['enabled', 'paused', 'disabled'], 'Only an enabled one is sent anything.'),
  reason: textOrNull('Why it is paused or disabled.'),
  since: time('Since when it has been.'),
  failingSince: time('Its receiver has refused everything since then, and is only probed.'),
}

const propertyConsumer = Type.Object(
  {
    ...consumer,
    state: oneOf(
      deliveryStates,
      'What the consumer reports takes precedence. `sent` does not say what was done with the event; `refused_by_us`: its requests are refused; `acknowledged`, `waiting`, `given_up`, `skipped`: by an endpoint. Further values may come.',
    ),
    at: time(
      'When the consumer said so, the minute in which the event was first sent, when an endpoint was last tried, or since when its requests have been refused.',
    ),
    route: textOrNull('How it was first sent.'),
    code: textOrNull('Why it was held or refused.'),
    message: textOrNull('The same in words of the consumer, or the beginning of the answer of an endpoint.'),
    url: textOrNull('Where the site shows it.'),
    refusals: orNull(whole('Requests.'), 'Requests that were refused since then.'),
    lastAskedAt: time('When it was last answered.'),
    lastNothingNewAt: time('When it last received an answer with nothing new.'),
    silentSince: time(
      'It has asked for nothing since then, which is longer than expected; null: it is not silent, or its key also opens other tenants and the asking key is not an operator key.',
    ),
    acknowledged: orNull(whole('A number.'), 'It says that it has applied everything up to this number.'),
    earlier: orNull(
      Type.Object({ outcome: text('What it said.'), sequenceNumber: whole('Of that event.') }),
      'What it last said of an earlier event of the property.',
    ),
    views: Type.Array(Type.String(), { description: 'What it reads: `all`, `sales`, `lettings`.' }),
    eventType: orNull(
      Type.Object({ catalogue: text('Whose numbers.'), number: whole('The number.') }),
      'The number of the event type that its key is shown, if it differs from that of the store.',
    ),
    timeToLive,
    webhook: orNull(
      part(
        'DeliveryEndpoint',
        Type.Object({
          ...endpoint,
          sequenceNumber: orNull(
            whole('A number.'),
            'Of the event of the property that waits or was given up.',
          ),
          tries: whole('How many tries of it were refused.'),
          nextTryAt: time('When it is tried again.'),
          status: orNull(whole('A status.'), 'Of the last answer; null: there was none.'),
        }),
      ),
      'The endpoint that the property is sent to; null: the consumer requests the feed.',
    ),
    sentence: text('All of this as a sentence, with times in UTC.'),
  },
  {
    title: 'PropertyConsumer',
    description: 'The result of the latest event of a property at one consumer.',
  },
)

const propertyConsumers = Type.Object(
  {
    agentRef: uuid('The property.'),
    event: part(
      'DeliveredEvent',
      Type.Object(
        {
          sequenceNumber: whole('Its number.'),
          eventTypeShortCode: text('Its type.'),
          publishedAt: moment('When it was published.'),
          category: textOrNull('`sales` or `lettings`.'),
        },
        { description: 'The latest event of the property.' },
      ),
    ),
    feed: part(
      'FeedOfProperty',
      Type.Object(
        {
          sequenceNumber: whole("Of the feed's last event."),
          epoch,
          lastPublishedAt: time('When anything was last published; null in an empty feed.'),
          silentSince: time(
            'The publisher has been silent since then, which is longer than expected; null: it is not silent, or the key sees only itself.',
          ),
        },
        { description: 'Where the feed stands.' },
      ),
    ),
    consumers: Type.Unsafe(listOf('PropertyConsumer')),
  },
  { title: 'PropertyConsumers', description: 'Who has seen the latest event of a property.' },
)

const expected = {
  expectedSeconds: orNull(
    whole('Seconds.'),
    'How long it may be silent; null: nothing is expected, or not yet.',
  ),
  expectation: orNull(
    Type.Unsafe({ enum: ['set', 'learned', 'learning', 'off'] }),
    '`learning`: it has been seen for less than 7 days. Further ones may come.',
  ),
}
const silence = {
  ...expected,
  silentSince: time('It has been silent since then, which is longer than expected; null: it is not silent.'),
}

const listedConsumer = Type.Object(
  {
    ...consumer,
    ended: textOrNull('Why the key no longer works: `key_revoked`, `key_expired`, `key_disabled`.'),
    lastAskedAt: time('When it was last answered; null: never.'),
    lastStatus: orNull(whole('A status.'), 'Of that answer.'),
    lastRoute: textOrNull('How it asked.'),
    lastNothingNewAt: time('When it last received an answer with nothing new.'),
    stoppedAfter: orNull(
      whole('A number.'),
      'It asks for the first page of the list alone, although there is more: it probably stops at an event type that it does not know.',
    ),
    acknowledged: orNull(
      Type.Object({ sequenceNumber: whole('A number.'), at: time('When it said so.') }),
      'It says that it has applied everything up to this number.',
    ),
    refused: orNull(
      Type.Object({
        code: text('Why.'),
        since: time('Since when.'),
        count: whole('How many requests.'),
      }),
      'Its last requests were refused.',
    ),
    views: Type.Array(
      part(
        'ConsumerView',
        Type.Object({
          view: text('`all`, `sales`, `lettings`.'),
          through: whole('Everything of the view up to this number was sent.'),
          lagEvents: whole('Events of the view after it.'),
          lagSeconds: whole('How long ago the first of them was published.'),
        }),
      ),
      { description: 'What it reads.' },
    ),
    timeToLive,
    webhook: orNull(
      part(
        'ConsumerEndpoint',
        Type.Object({
          ...endpoint,
          waiting: whole('Properties or contacts whose oldest event is tried again.'),
          givenUp: whole('Events that were given up.'),
        }),
      ),
      'The endpoint that the feed is sent to; null: the consumer requests it.',
    ),
    ...silence,
  },
  { title: 'Consumer', description: 'A reader of a feed: a key, or one of the uses that a key names.' },
)

const listedConsumers = Type.Object(
  {
    publisher: part(
      'Publisher',
      Type.Object(
        {
          lastHeardAt: time(
            'When a publication was last taken, to within some minutes; null: not since this has been recorded.',
          ),
          ...silence,
        },
        { description: 'The publisher of the feed, with whichever keys.' },
      ),
    ),
    items: Type.Unsafe(listOf('Consumer')),
    next: Type.Null({ description: 'The list is whole.' }),
  },
  { title: 'Consumers' },
)

export const consumers = {
  Acknowledgement: Type.Object(
    {
      sequenceNumber: whole('Everything up to this number has been applied.'),
      epoch,
    },
    {
      title: 'Acknowledgement',
      description: 'What a consumer says that it has applied.',
      additionalProperties: false,
    },
  ),
  ConsumerResult: Type.Object(
    {
      agentRef: uuid('The property.'),
      sequenceNumber: Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Of the event that it is about.',
      }),
      outcome,
      code: Type.Optional(
        orNull(
          Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
          'Why it was held or refused, in a word of the consumer.',
        ),
      ),
      message: Type.Optional(
        orNull(Type.String({ minLength: 1, maxLength: 500 }), 'The same in words. It must name no person.'),
      ),
      url: Type.Optional(
        orNull(Type.String({ format: 'uri', maxLength: 2_048 }), 'Where the site shows it: http or https.'),
      ),
    },
    {
      title: 'ConsumerResult',
      description: 'The result of a property at a consumer.',
      additionalProperties: false,
    },
  ),
  ResultsReceipt: Type.Object(
    {
      stored: whole('How many results are of properties of the feed.'),
      unknown: Type.Array(Type.String(), { description: 'References that the feed does not have.' }),
    },
    { title: 'ResultsReceipt' },
  ),
  PropertyConsumer: propertyConsumer,
  PropertyConsumers: propertyConsumers,
  Consumer: listedConsumer,
  Consumers: listedConsumers,
  ExpectedIntervalRequest: Type.Object(
    {
      seconds: orNull(
        Type.Unsafe({
          anyOf: [{ const: 0 }, { type: 'integer', minimum: 300, maximum: 2_592_000 }],
        }),
        '0: nothing is expected; null: it is learned.',
      ),
    },
    {
      title: 'ExpectedIntervalRequest',
      description: 'How long a publisher or consumer may be silent.',
      additionalProperties: false,
    },
  ),
  ExpectedInterval: Type.Object(expected, {
    title: 'ExpectedInterval',
    description: 'How long a publisher or consumer may be silent, and how that was decided.',
  }),
}
