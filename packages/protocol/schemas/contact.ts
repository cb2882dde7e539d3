/** Contacts as administration sees them: masked, or revealed (PROTOCOL §12.7); and those that will be erased because they do not change (§5.7). */
import Type from 'typebox'
import { revealReasons } from '../src/plain.ts'
import { day, listPage, listed, oneOf, text, uuid, whole } from './parts.ts'

const maskedContact = {
  sequenceNumber: whole('Of the event.'),
  id: uuid('Of the event.'),
  eventTypeShortCode: text('Its type.'),
  createdDate: text('When it was stored, UTC.'),
  contact: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The payload. Everything that names or reaches a person is `•••`.',
  }),
}

export const expiringContacts = {
  ExpiringContact: Type.Object(
    {
      contactRef: uuid('The contact.'),
      erasedOn: day('It is erased on this day (UTC), if nothing changes.'),
      unchangedSince: day('When it changed last, or was kept last.'),
      listedOn: day('Since when it is on the list.'),
    },
    { title: 'ExpiringContact', description: 'A contact that will be erased because it has not changed.' },
  ),
  ExpiringContacts: listPage('ExpiringContacts', 'contacts', 'ExpiringContact'),
  KeptContact: Type.Object(
    {
      tenantId: uuid('The tenant.'),
      contactRef: uuid('The contact.'),
      kept: Type.Boolean({ description: 'Always true.' }),
    },
    { title: 'KeptContact' },
  ),
} as const

export const maskedContacts = {
  MaskedContact: Type.Object(maskedContact, { title: 'MaskedContact' }),
  MaskedContacts: listed('MaskedContacts', Type.Object(maskedContact)),
  RevealRequest: Type.Object(
    { reason: oneOf(revealReasons, 'Why; no text of your own.') },
    { title: 'RevealRequest', additionalProperties: false },
  ),
} as const
