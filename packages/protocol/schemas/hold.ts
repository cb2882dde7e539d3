/** Holds: properties and contacts that are not erased for now (PROTOCOL §5.7). */
import Type from 'typebox'
import { holdGrounds } from '../src/plain.ts'
import { caseRef } from './erasure.ts'
import { day, feedName, listPage, moment, oneOf, text, time, uuid } from './parts.ts'

const words = {
  feed: feedName,
  subjectId: uuid('The property or contact.'),
  ground: oneOf(holdGrounds, 'Why it must be kept; no text of your own.'),
  until: day('The last day of the hold, in UTC.'),
  caseRef: caseRef,
}

export const holds = {
  HoldRequest: Type.Object(words, { title: 'HoldRequest', additionalProperties: false }),
  Hold: Type.Object(
    {
      id: uuid('Of the hold.'),
      tenantId: uuid('The tenant.'),
      ...words,
      actor: text('The id of the key that asked for it.'),
      state: oneOf(['active', 'expired', 'ended'], 'Only an active hold keeps anything.'),
      addedAt: moment('When it was asked for.'),
      endedAt: time('When somebody ended it.'),
    },
    { title: 'Hold', description: 'A property or contact that is not erased for now.' },
  ),
  Holds: listPage('Holds', 'holds', 'Hold'),
} as const
