/** What a key was sent (PROTOCOL §5.7). */
import Type from 'typebox'
import { unknownTime } from './erasure.ts'
import { listOf, moment, oneOf, text, uuid } from './parts.ts'

export const disclosures = {
  ExposedContact: Type.Object(
    {
      contactRef: uuid('The contact.'),
      certainty: oneOf(
        ['sent', 'possibly'],
        '`possibly`: only a part of the hour in which it was sent was asked for.',
      ),
      firstSentAt: moment('Start of the first hour in which it was sent.'),
      lastSentAt: moment('End of the last hour in which it was sent.'),
    },
    { title: 'ExposedContact' },
  ),
  Exposure: Type.Object(
    {
      keyId: text('Of the key.'),
      tenantId: uuid('The tenant whose contacts these are.'),
      from: moment('As it was asked for.'),
      to: moment('As it was asked for.'),
      contacts: Type.Unsafe({ ...listOf('ExposedContact'), description: 'By reference.' }),
      unknownTimes: Type.Array(unknownTime, {
        description:
          'A node crashed, or still runs and has not yet recorded what it sent then: possibly any contact that the key could read.',
      }),
      next: Type.Union([Type.String(), Type.Null()], { description: 'Send it as `after` to get more.' }),
    },
    { title: 'Exposure', description: 'Contacts that a key was sent.' },
  ),
} as const
