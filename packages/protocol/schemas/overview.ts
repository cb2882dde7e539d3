/** The named schemas of what is said over all tenants: faults, how tenants are doing, what was found (PROTOCOL §12.11, §12.12). */
import Type from 'typebox'
import { faultCodes } from '../../server/src/consumers/list-faults.ts'
import { listed, moment, next, orNull, text, time, uuid, whole } from './admin-parts.ts'

const fault = {
  code: Type.Unsafe({
    enum: [...faultCodes],
    description: 'What it is. Further ones may come.',
  }),
  tenantId: orNull(Type.String({ format: 'uuid' }), 'Null: its key opens several tenants, or none.'),
  tenantName: orNull(Type.String(), 'What the tenant is called.'),
  feed: orNull(Type.String(), '`property` or `contact`: of a publisher.'),
  keyId: orNull(Type.String(), 'Of a consumer or a key.'),
  label: orNull(Type.String(), 'Of the key.'),
  consumer: orNull(Type.String(), 'As in `x-feed-consumer`; `default`: the key itself.'),
  since: moment('Since when it is so; of a key that ends, when it was last used.'),
  endsAt: time('When the key ends, or has ended; null: it does not.'),
  reason: orNull(Type.String(), 'The code that it is refused with.'),
  refusals: orNull(Type.Integer({ minimum: 0 }), 'Requests that were refused since then.'),
}

const tenantFacts = {
  tenantId: uuid('Of the tenant.'),
  sequenceNumber: whole("Of the feed's last event."),
  live: orNull(
    Type.Integer({ minimum: 0 }),
    'Properties that have not been removed. Null until they are counted.',
  ),
  published: Type.Array(whole('Events of an hour.'), {
    description: 'The last 24 hours of the clock, the present one last.',
  }),
  furthest: orNull(
    Type.Object({
      keyId: text('Of its key.'),
      label: text('Of its key.'),
      name: text('As in `x-feed-consumer`; `default`: the key itself.'),
      lagEvents: whole('Events that it has not been sent.'),
      lagSeconds: whole('How long ago the first of them was published.'),
    }),
    'The consumer that lacks most, of those whose keys work; null: nobody reads the feed.',
  ),
  refused: whole('Requests of consumers that were refused since their last answer.'),
}

const foundThing = {
  kind: Type.Unsafe({ enum: ['property', 'contact', 'event'], description: 'What it is.' }),
  tenantId: uuid('Whose it is.'),
  tenantName: text('What the tenant is called.'),
  feed: Type.Unsafe({ enum: ['property', 'contact'], description: 'In which feed it is.' }),
  agentRef: orNull(Type.String(), 'Of a property, as its payload spells it.'),
  contactRef: orNull(Type.String(), 'Of a contact.'),
  live: orNull(Type.Boolean(), 'Of a property: false if its latest event is a removal.'),
  address: orNull(Type.String(), 'Of a property.'),
  postcode: orNull(Type.String(), 'Of a property.'),
  reference: orNull(Type.String(), "Of a property: the agent's own."),
  sequenceNumber: orNull(Type.Integer({ minimum: 0 }), 'Of the event, or of the latest one of the property.'),
  eventTypeShortCode: orNull(Type.String(), 'Of the same event.'),
}

export const overviewSchemas = {
  Faults: Type.Object(
    {
      items: Type.Array(Type.Object(fault), { description: 'The worst kind first.' }),
      next,
      hasMore: Type.Boolean({ description: 'There are more of a kind than are listed.' }),
      at: moment('As of when.'),
    },
    { title: 'Faults' },
  ),
  TenantFacts: listed('TenantFacts', Type.Object(tenantFacts)),
  FoundThings: Type.Object(
    {
      items: Type.Array(Type.Object(foundThing), { description: 'Tenant by tenant.' }),
      next,
      searched: Type.Object(
        {
          tenants: whole('Tenants that this call has searched.'),
          of: whole('How many tenants there are, as of a few seconds ago.'),
          properties: whole('Properties that it has read.'),
        },
        { description: 'How far this call has searched.' },
      ),
    },
    { title: 'FoundThings' },
  ),
}
