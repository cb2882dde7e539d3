/** The terms on which a property was advertised at a moment, and where (PROTOCOL §14.8). */
import Type from 'typebox'
import { termsRecords, termsSendings } from '../src/plain.ts'
import { listOf, moment, oneOf, orNull, part, text, textOrNull, time, uuid, whole } from './parts.ts'

const number = (description: string) => orNull(Type.Number(), description)

const terms = part(
  'AdvertisedTerms',
  Type.Object(
    {
      status: number('`status`, a code.'),
      price: number('`price_information.price`, in pounds.'),
      priceQualifier: number('`price_information.price_qualifier`, a code.'),
      priceQualifierText: textOrNull('`price_information.price_qualifier_string`.'),
      rentFrequency: number('`price_information.rent_frequency`, payments a year.'),
      deposit: number('`price_information.deposit`, in pounds.'),
      contractMonths: number('`contract_months`.'),
      minimumTerm: number('`minimum_term`, in months.'),
    },
    { description: 'As the payload states them; null: it does not.' },
  ),
)

const material = part(
  'MaterialFact',
  Type.Object(
    {
      name: text('What it is, in words.'),
      pointer: text('Where a payload states it, an RFC 6901 pointer.'),
      stated: Type.Boolean({ description: 'False: the advert should state it, and does not.' }),
      values: Type.Array(
        Type.Object({ pointer: text('Where.'), value: Type.Unknown({ description: 'As in the payload.' }) }),
        { description: 'What the payload has in the places where this is stated.' },
      ),
    },
    { description: 'One thing that buyers and tenants need to know.' },
  ),
)

const period = part(
  'LivePeriod',
  Type.Object({
    from: time('When the consumer reported it first; null: earlier than is recorded.'),
    until: time('When it reported something else; null: it has not.'),
    url: textOrNull('Where the site showed it.'),
    sequenceNumber: whole('Of the event that the report was about.'),
  }),
)

const consumer = Type.Object(
  {
    keyId: text('Id of the key: the part after `pev_` in its text.'),
    name: text('As in `x-feed-consumer`; `default`: the key itself.'),
    label: text('Of the key.'),
    sent: oneOf(
      termsSendings,
      '`first`: `sentAt`. `time_not_recorded`: it was sent, and when is not on record. `not_recorded`: the event is older than the record. `no_record`: the record has nothing of it. None of them says that it was processed. Further values may come.',
    ),
    sentAt: time('The minute in which an answer with the event was first taken.'),
    route: textOrNull('How it was read then.'),
    applied: orNull(
      Type.Object({
        at: moment('When it said so.'),
        sequenceNumber: whole('Everything up to this number; not less than that of the event.'),
      }),
      'The acknowledgement that includes the event. Only the last one of a consumer is kept, so it may have said so before.',
    ),
    live: Type.Array(period, {
      description: 'When the site showed the property while these terms were in force, as it reported.',
    }),
    sentence: text('All of this as a sentence, with times in UTC.'),
  },
  { title: 'TermsConsumer', description: 'What is recorded of the terms at one consumer.' },
)

export const propertyTerms = {
  TermsConsumer: consumer,
  PropertyTerms: Type.Object(
    {
      agentRef: uuid('The property.'),
      at: moment('The moment that is answered for: the last millisecond that the request includes, or now.'),
      record: oneOf(
        termsRecords,
        '`kept`: `terms` and `material` are those of the event. `erased`, `retention`: they have been taken from it. `none`: the feed has no event of the property up to then, and nothing is recorded of the time before. Further values may come.',
      ),
      event: orNull(
        part(
          'TermsEvent',
          Type.Object({
            id: uuid('Its eventId.'),
            sequenceNumber: whole('Its number.'),
            eventTypeShortCode: text('Its type.'),
            createdDate: text('Since when it was in force: UTC, 7 fraction digits.'),
            category: textOrNull('`sales` or `lettings`.'),
          }),
        ),
        'The event in force: the last one of the property up to then.',
      ),
      supersededBy: orNull(
        Type.Object({
          sequenceNumber: whole('Its number.'),
          createdDate: text('When it superseded the event.'),
        }),
        'The next event of the property; null: there is none.',
      ),
      published: orNull(Type.Boolean(), 'Whether the property was advertised; null: not recorded.'),
      terms: orNull(terms, 'Null: not recorded, or no longer.'),
      material: orNull(Type.Array(material), 'Null: not recorded, or no longer.'),
      recordedFrom: moment(
        'What consumers were first sent, or reported, before this is not recorded (any more).',
      ),
      consumers: Type.Unsafe(listOf('TermsConsumer')),
      sentence: text('What was advertised, as a sentence, with times in UTC.'),
    },
    {
      title: 'PropertyTerms',
      description: 'The terms on which a property was advertised at a moment, and what is recorded of where.',
    },
  ),
}
