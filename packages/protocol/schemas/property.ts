/** Properties and other things that were searched for (PROTOCOL §12.5, §12.12). */
import Type from 'typebox'
import { feedNames } from '../src/plain.ts'
import { next, oneOf, orNull, part, text, textOrNull, uuid, whole } from './parts.ts'

const foundThing = {
  kind: oneOf(['property', 'contact', 'event'], 'What it is.'),
  tenantId: uuid('Whose it is.'),
  tenantName: text('What the tenant is called.'),
  feed: oneOf(feedNames, 'In which feed it is.'),
  agentRef: textOrNull('Of a property, as its payload spells it.'),
  contactRef: textOrNull('Of a contact.'),
  live: orNull(Type.Boolean(), 'Of a property: false if its latest event is a removal.'),
  address: textOrNull('Of a property.'),
  postcode: textOrNull('Of a property.'),
  reference: textOrNull("Of a property: the agent's own."),
  sequenceNumber: orNull(Type.Integer({ minimum: 0 }), 'Of the event, or of the latest one of the property.'),
  eventTypeShortCode: textOrNull('Of the same event.'),
}

export const properties = {
  Properties: Type.Object(
    {
      items: Type.Array(
        part(
          'FoundProperty',
          Type.Object({
            agentRef: text('The property, as its payload spells it.'),
            live: Type.Boolean({ description: 'False: its latest event is a removal.' }),
            address: textOrNull('The address as shown to the public, or else its lines.'),
            postcode: textOrNull('Both parts.'),
            reference: textOrNull("The agent's own reference."),
            serviceReference: textOrNull('The `service_reference` of the payload.'),
            eventId: uuid('Of the latest event.'),
            sequenceNumber: whole('Of the latest event.'),
            eventTypeShortCode: text('Of the latest event.'),
            createdDate: text('Of the latest event, unchanged.'),
          }),
        ),
        { description: 'The newest change first.' },
      ),
      next,
      searched: whole('How many properties this call has looked at.'),
    },
    { title: 'Properties' },
  ),
} as const

export const found = {
  FoundThings: Type.Object(
    {
      items: Type.Array(part('FoundThing', Type.Object(foundThing)), { description: 'Tenant by tenant.' }),
      next,
      searched: part(
        'Searched',
        Type.Object(
          {
            tenants: whole('Tenants that this call has searched.'),
            of: whole('How many tenants there are, as of a few seconds ago.'),
            properties: whole('Properties that it has read.'),
          },
          { description: 'How far this call has searched.' },
        ),
      ),
    },
    { title: 'FoundThings' },
  ),
} as const
