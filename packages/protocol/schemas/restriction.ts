/** Restrictions: contacts that are kept and shown to nobody (PROTOCOL §5.7). */
import Type from 'typebox'
import { restrictionReasons } from '../src/plain.ts'
import { caseRef, closingEvent } from './erasure.ts'
import { listPage, moment, oneOf, text, time, uuid } from './parts.ts'

const words = {
  subjectId: uuid('The contact.'),
  reason: oneOf(restrictionReasons, 'Why; no text of your own.'),
  caseRef: caseRef,
}

const contactFeed = oneOf(['contact'], 'Only contacts are restricted.')

export const restrictions = {
  RestrictionRequest: Type.Object(
    { feed: Type.Optional(contactFeed), ...words },
    { title: 'RestrictionRequest', additionalProperties: false },
  ),
  Restriction: Type.Object(
    {
      id: uuid('Of the restriction.'),
      tenantId: uuid('The tenant.'),
      feed: contactFeed,
      ...words,
      actor: text('The id of the key that asked for it.'),
      state: oneOf(
        ['hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'],
        '`restricted`: no answer shows the contact; `lifted`: every answer does again.',
      ),
      closing: Type.Object(closingEvent, {
        description: 'The event that removed the contact from consumers.',
      }),
      begunAt: moment('When it was asked for.'),
      restrictedAt: time('When every node had forgotten it.'),
      endedAt: time('When it was lifted, or the contact erased.'),
    },
    { title: 'Restriction', description: 'A contact that is kept and shown to nobody.' },
  ),
  Restrictions: listPage('Restrictions', 'restrictions', 'Restriction'),
} as const
