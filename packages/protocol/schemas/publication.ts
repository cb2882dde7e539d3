/** What is published: one event to be, as the publishing operations take it. */
import Type from 'typebox'
import type { TProperties, TSchema } from 'typebox'
import { refTo } from './parts.ts'

function payloadOf(payload: string): TSchema {
  const reference = refTo(payload)
  const text = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: reference,
    description: 'The same as JSON text. Numbers keep their digits; white space between tokens goes.',
  }
  return Type.Unsafe({ anyOf: [reference, text] })
}

const eventMembers = {
  eventType: Type.Optional(
    Type.Union([
      Type.String({
        description: 'Short code. Default: derived from the payload and the subject’s latest event.',
      }),
      Type.Null(),
    ]),
  ),
  id: Type.Optional(
    Type.Union([
      Type.String({
        format: 'uuid',
        description: 'Repeat key, unique in the feed for ever. Default: a new UUID.',
      }),
      Type.Null(),
    ]),
  ),
  transactionId: Type.Optional(
    Type.Union([
      Type.String({
        format: 'uuid',
        description:
          "Groups events. Leave it out: the default is the subject's UUID as its first event spells it, which known consumers take for the property's id.",
      }),
      Type.Null(),
    ]),
  ),
}

const category = {
  category: Type.Optional(
    Type.Unsafe({ enum: ['sales', 'lettings', null], description: 'Default: as the payload says.' }),
  ),
}

const Removal = Type.Object(
  {
    agentRef: Type.String({ format: 'uuid', description: 'The property.' }),
    reason: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 0, description: 'Removal reason, 7 to 12.' }),
        Type.String({ maxLength: 200 }),
        Type.Null(),
      ]),
    ),
  },
  {
    additionalProperties: false,
    title: 'Removal',
    description: 'A property that must not be shown any more.',
  },
)

function publication(title: string, description: string, members: TProperties): TSchema {
  return Type.Object({ ...members, ...eventMembers }, { additionalProperties: false, title, description })
}

/** By the name they are referred to by. A property event has a payload or a removal, and never both. */
export const publications = {
  Removal,
  PropertyState: publication('PropertyState', 'A property event to publish: how the property is now.', {
    payload: payloadOf('PropertyPayload'),
    ...category,
  }),
  PropertyRemoval: publication(
    'PropertyRemoval',
    'A property event to publish: the property must not be shown any more.',
    {
      remove: Type.Unsafe(refTo('Removal')),
      ...category,
    },
  ),
  PropertyPublication: {
    title: 'PropertyPublication',
    description: 'One property event to publish.',
    oneOf: [refTo('PropertyState'), refTo('PropertyRemoval')],
  },
  ContactPublication: publication('ContactPublication', 'One contact event to publish.', {
    payload: payloadOf('ContactPayload'),
  }),
}
