/** Tenants, their feeds and how they are doing (PROTOCOL §12.2, §12.3, §12.5, §12.11). */
import Type from 'typebox'
import { scopes } from '../src/plain.ts'
import { keyText, label } from './key.ts'
import {
  feedName,
  listed,
  moment,
  oneOf,
  orNull,
  part,
  text,
  textOrNull,
  time,
  uuid,
  whole,
} from './parts.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: String.raw`\S`,
  description: 'What people call it; no two tenants have the same.',
})
const reference = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[!-~]+$',
  description: 'Your own name for it, such as its number in a CRM; no two tenants have the same.',
})
const duties = Type.Boolean({ description: 'Its receipts warn of duties by law.' })

const tenant = {
  tenantId: uuid('Of the tenant.'),
  name,
  reference: orNull(reference, 'Null: it has none.'),
  suspended: Type.Boolean({ description: 'Its keys are refused.' }),
  duties,
  leaving: orNull(
    Type.Object({
      since: moment('Since when nothing can be published for it.'),
      readingEndsAt: moment('From then on its keys are refused.'),
      unpublishedAt: time('When the last of its properties was removed; null: they are being removed.'),
    }),
    'Null: it is not leaving.',
  ),
  deletion: orNull(
    Type.Object({
      id: uuid('Of the certificate.'),
      state: oneOf(['exporting', 'deleting', 'forgetting'], 'How far the deletion has got.'),
    }),
    'Null: it is not being deleted.',
  ),
  createdAt: moment('When it was created.'),
}

const activity = {
  tenantId: uuid('Of the tenant.'),
  sequenceNumber: whole("Of the feed's last event."),
  live: whole('Properties that have not been removed.'),
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
    'The consumer that is furthest behind, of those whose keys work; null: nobody reads the feed.',
  ),
  refused: whole('Requests of consumers that were refused since their last answer.'),
}

export const tenants = {
  Tenant: Type.Object(tenant, { title: 'Tenant' }),
  Tenants: listed(
    'Tenants',
    part(
      'ListedTenant',
      Type.Object({
        ...tenant,
        lastPublishedAt: Type.Optional(
          time('With `order=lastPublish`: of the last event of its feeds; null if it never published.'),
        ),
      }),
    ),
  ),
  NewTenant: Type.Object(
    {
      tenantId: Type.Optional(uuid('Its id, if it already has one; left out, a new one is created.')),
      name,
      reference: Type.Optional(reference),
    },
    { title: 'NewTenant', additionalProperties: false },
  ),
  TenantChange: Type.Object(
    {
      name: Type.Optional(name),
      reference: Type.Optional(orNull(reference, 'Null removes it.')),
      suspended: Type.Optional(Type.Boolean({ description: 'Its keys are refused.' })),
      duties: Type.Optional(duties),
    },
    {
      title: 'TenantChange',
      description: 'Members that are left out stay as they are.',
      additionalProperties: false,
    },
  ),
  TenantImport: Type.Object(
    {
      reference,
      name,
      keys: Type.Optional(
        Type.Array(
          part(
            'NewTenantKey',
            Type.Object(
              {
                label: Type.Optional(label),
                scopes: Type.Array(part('Scope', Type.Unsafe({ enum: [...scopes] })), {
                  minItems: 1,
                  description: 'What it may do for this tenant.',
                }),
              },
              { additionalProperties: false },
            ),
          ),
          { maxItems: 10, description: 'Keys to create with it.' },
        ),
      ),
    },
    { title: 'TenantImport', additionalProperties: false },
  ),
  ImportedTenants: Type.Object(
    {
      created: whole('Tenants that were created.'),
      known: whole('Lines whose reference a tenant had already.'),
      refused: whole('Lines for which nothing was created.'),
      items: Type.Array(
        part(
          'ImportedTenant',
          Type.Object({
            reference: text('Of the line.'),
            outcome: oneOf(
              ['created', 'known', 'name_taken', 'failed'],
              '`failed`: the store did not answer; send the file again.',
            ),
            tenantId: orNull(Type.String({ format: 'uuid' }), 'Of the tenant that has the reference.'),
            keys: Type.Array(Type.Object({ keyId: text('Of the key.'), label, key: keyText }), {
              description: 'Those that were created.',
            }),
          }),
        ),
        { description: 'One for each line, in their order.' },
      ),
    },
    { title: 'ImportedTenants' },
  ),
  FeedStates: listed(
    'FeedStates',
    part(
      'FeedState',
      Type.Object({
        feed: feedName,
        sequenceNumber: whole("Of the feed's last event."),
        epoch: text('Changes when numbers continue after a gap, as after a restore.'),
        revision: whole('Rises when stored payloads were reduced.'),
        counts: Type.Record(Type.String(), Type.Integer(), {
          description: 'Events of each view, by its `apiEventType`.',
        }),
        live: whole('Properties or contacts whose latest event is not a removal.'),
        lastPublishedAt: time("Of the feed's last event; null in an empty feed."),
      }),
    ),
  ),
} as const

export const feedRate = {
  FeedRate: Type.Object(
    {
      feed: feedName,
      apiEventType: textOrNull('The view that is counted; null: all events.'),
      from: moment('The beginning.'),
      to: moment('The end, which the counts do not include.'),
      counts: Type.Array(whole('Events of one part of the time.'), {
        description: 'One for each part, in order.',
      }),
    },
    { title: 'FeedRate' },
  ),
} as const

export const tenantFacts = {
  TenantFacts: listed('TenantFacts', part('TenantActivity', Type.Object(activity))),
} as const
