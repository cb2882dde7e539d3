/** The named schemas of administration (PROTOCOL §12), but for those of keys, deletions and the overview. */
import { revealReasons, scopes } from '../src/plain.ts'
import Type from 'typebox'
import { listed, moment, next, orNull, text, time, uuid, whole } from './admin-parts.ts'
import { keyText, label } from './key.ts'

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

const tenant = {
  tenantId: uuid('Of the tenant.'),
  name,
  reference: orNull(reference, 'Null: it has none.'),
  suspended: Type.Boolean({ description: 'Its keys are refused.' }),
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
      state: Type.Unsafe({
        enum: ['exporting', 'deleting', 'forgetting'],
        description: 'How far the deletion has got.',
      }),
    }),
    'Null: it is not being deleted.',
  ),
  createdAt: moment('When it was made.'),
}

const maskedContact = {
  sequenceNumber: whole('Of the event.'),
  id: uuid('Of the event.'),
  eventTypeShortCode: text('Its type.'),
  createdDate: text('When it was stored, UTC.'),
  contact: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The payload. Everything that names or reaches a person is `•••`.',
  }),
}

const finding = {
  check: text('What was looked at.'),
  status: Type.Unsafe({ enum: ['ok', 'warn', 'fail'], description: 'How it is.' }),
  detail: text('What was found.'),
  remedy: orNull(Type.String(), 'What to do; null: nothing.'),
}

export const adminSchemas = {
  ShownSettings: listed(
    'ShownSettings',
    Type.Object({
      name: text('Name of the setting, as in its flag.'),
      variable: text('The environment variable that can set it.'),
      value: Type.Unknown({ description: 'A secret is `(not shown)`; null: none.' }),
      source: text('The flag or variable that sets it, or `default`.'),
    }),
  ),
  Health: Type.Object(
    {
      status: Type.Unsafe({ enum: ['ok', 'warn', 'fail'], description: 'The worst of all findings.' }),
      items: Type.Array(Type.Object(finding), { description: 'One for each check.' }),
      next: Type.Null({ description: 'These are all.' }),
    },
    { title: 'Health' },
  ),
  ActorName: Type.Object(
    { actor: text('`key:` or `cli:` and an opaque id.'), name: orNull(Type.String(), 'Null: it has none.') },
    { title: 'ActorName' },
  ),
  ActorNameChange: Type.Object(
    {
      name: orNull(
        Type.String({ minLength: 1, maxLength: 200, pattern: String.raw`\S` }),
        'For people. Null erases it, and the rows of the audit stay.',
      ),
    },
    { title: 'ActorNameChange', additionalProperties: false },
  ),
  Tenant: Type.Object(tenant, { title: 'Tenant' }),
  Tenants: listed(
    'Tenants',
    Type.Object({
      ...tenant,
      lastPublishedAt: Type.Optional(
        time('With `order=lastPublish`: of the last event of its feeds; null if it never published.'),
      ),
    }),
  ),
  NewTenant: Type.Object(
    {
      tenantId: Type.Optional(uuid('Its id, if it already has one; left out, a new one is made.')),
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
          Type.Object(
            {
              label: Type.Optional(label),
              scopes: Type.Array(Type.Unsafe({ enum: [...scopes] }), {
                minItems: 1,
                description: 'What it may do for this tenant.',
              }),
            },
            { additionalProperties: false },
          ),
          { maxItems: 10, description: 'Keys to be made with it.' },
        ),
      ),
    },
    { title: 'TenantImport', additionalProperties: false },
  ),
  ImportedTenants: Type.Object(
    {
      created: whole('Tenants that were made.'),
      known: whole('Lines whose reference a tenant had already.'),
      refused: whole('Lines for which nothing was made.'),
      items: Type.Array(
        Type.Object({
          reference: text('Of the line.'),
          outcome: Type.Unsafe({
            enum: ['created', 'known', 'name_taken', 'failed'],
            description: '`failed`: the store did not answer; send the file again.',
          }),
          tenantId: orNull(Type.String({ format: 'uuid' }), 'Of the tenant that has the reference.'),
          keys: Type.Array(Type.Object({ keyId: text('Of the key.'), label, key: keyText }), {
            description: 'Those that were made.',
          }),
        }),
        { description: 'One for each line, in their order.' },
      ),
    },
    { title: 'ImportedTenants' },
  ),
  FeedStates: listed(
    'FeedStates',
    Type.Object({
      feed: Type.Unsafe({ enum: ['property', 'contact'], description: 'Which feed of the tenant.' }),
      sequenceNumber: whole("Of the feed's last event."),
      epoch: text('Changes when numbers continue after a gap, as after a restore.'),
      revision: whole('Rises when stored payloads were reduced.'),
      counts: Type.Record(Type.String(), Type.Integer(), {
        description: 'Events of each view, by its `apiEventType`.',
      }),
      live: orNull(
        Type.Integer({ minimum: 0 }),
        'Properties or contacts whose latest event is not a removal. Null until they are counted after an upgrade.',
      ),
      lastPublishedAt: time("Of the feed's last event; null in an empty feed."),
    }),
  ),
  Properties: Type.Object(
    {
      items: Type.Array(
        Type.Object({
          agentRef: Type.String({ description: 'The property, as its payload spells it.' }),
          live: Type.Boolean({ description: 'False: its latest event is a removal.' }),
          address: orNull(Type.String(), 'The address as shown to the public, or else its lines.'),
          postcode: orNull(Type.String(), 'Both parts.'),
          reference: orNull(Type.String(), "The agent's own reference."),
          serviceReference: orNull(Type.String(), 'The `service_reference` of the payload.'),
          eventId: uuid('Of the latest event.'),
          sequenceNumber: whole('Of the latest event.'),
          eventTypeShortCode: text('Of the latest event.'),
          createdDate: text('Of the latest event, unchanged.'),
        }),
        { description: 'The newest change first.' },
      ),
      next,
      searched: whole('How many properties this call has looked at.'),
    },
    { title: 'Properties' },
  ),
  FeedRate: Type.Object(
    {
      feed: Type.Unsafe({ enum: ['property', 'contact'], description: 'Which feed of the tenant.' }),
      apiEventType: orNull(Type.String(), 'The view that is counted; null: all events.'),
      from: moment('The beginning.'),
      to: moment('The end, which the counts do not include.'),
      counts: Type.Array(whole('Events of one part of the time.'), {
        description: 'One for each part, in order.',
      }),
    },
    { title: 'FeedRate' },
  ),
  MaskedContact: Type.Object(maskedContact, { title: 'MaskedContact' }),
  MaskedContacts: listed('MaskedContacts', Type.Object(maskedContact)),
  RevealRequest: Type.Object(
    { reason: Type.Unsafe({ enum: [...revealReasons], description: 'Why; no text of your own.' }) },
    { title: 'RevealRequest', additionalProperties: false },
  ),
  AuditRows: listed(
    'AuditRows',
    Type.Object({
      id: uuid('Of the row.'),
      at: moment('By the clock of the node that made the change.'),
      actor: text('`key:` or `cli:` and an opaque id, or `service`.'),
      actorName: orNull(
        Type.String(),
        'Its name, if it has one and an operator key asks. It is kept apart from the row, and can be erased.',
      ),
      action: text('What was done, such as `key.created`. Further ones may come.'),
      tenantId: orNull(Type.String({ format: 'uuid' }), 'Of the tenant; null where it concerns none.'),
      target: orNull(Type.String(), 'Id of what was changed.'),
      detail: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Details of the action; never a name.',
      }),
    }),
  ),
} as const
