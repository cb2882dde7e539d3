import Type from 'typebox'
import { addressMembers } from './address.ts'
import { listCodes } from './code-list.ts'
import { contactChannels, contactKinds, contactRoles } from './contact-codes.ts'
import { flag, record, recordList, subjectUuid, text, textList, uuid } from './fields.ts'

const communicationMembers = {
  channel: text(`Code: ${listCodes(contactChannels)}.`),
  value: text('The address or number; may be absent for `post`, which goes to `address`.'),
  label: text('What the contact calls it, such as work.'),
  preferred: flag('The contact would rather be reached this way.'),
  consent: record('What the contact agreed to for this channel.', {
    marketing: flag('True: agreed to marketing. False: refused. Absent or null: never asked.'),
    given_date: text('When that was said, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
    source: text('Where that was said, such as website form.'),
  }),
}

/**
 * The contact payload. The spec (§1 rule 3) leaves it open, so it is this project's own (D18). It has the conventions
 * of the property payload (snake_case, everything optional, null allowed, unknown fields pass) and describes the people
 * and companies an agency deals with. It holds personal data, which must never appear in logs, metrics, traces or error
 * texts: therefore the checks of this payload name pointers and never values.
 */
export const ContactPayload = Type.Object(
  {
    contact_ref: subjectUuid('The contact: UUID, compared without regard to case (D16).'),
    kind: text(`Code: ${listCodes(contactKinds)}.`),
    title: text('Person: Ms, Dr and so on; advised: at most 40 characters.'),
    first_name: text('Person: given names; advised: at most 100 characters.'),
    middle_name: text('Person: middle names; advised: at most 100 characters.'),
    last_name: text('Person: family name; advised: at most 100 characters.'),
    suffix: text('Person: such as OBE; advised: at most 40 characters.'),
    salutation: text('How letters begin, after "Dear"; advised: at most 100 characters.'),
    company_name: text('Company, or the company of a person; advised: at most 200 characters.'),
    company_number: text('Company: number at Companies House, 8 characters.'),
    job_title: text('Person: position in the company; advised: at most 100 characters.'),
    roles: textList(`What the contact is to the agency: ${listCodes(contactRoles)}.`),
    communications: recordList('How to reach the contact; advised: at most 50.', communicationMembers),
    address: record('Where letters go.', {
      ...addressMembers,
      country: text('ISO 3166-1 code of two letters, such as GB.'),
    }),
    branch_id: text("The branch that looks after the contact, in the publisher's own words."),
    properties: recordList('Properties the contact has to do with; advised: at most 1,000.', {
      agent_ref: uuid('The property: `agent_ref` of its payload.'),
      role: text('What the contact is to this property: a code as in `roles`.'),
    }),
    notes: text('Free text; advised: at most 4,000 characters.'),
    create_date: text('Creation of the contact, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
    update_date: text('Last change of the contact, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24).'),
    service_reference: text("Reference of the contact in the publisher's system (D16)."),
    erased: flag('Set by the service when it has reduced the payload to its reference (D17).'),
    thinned: flag('Set by the service in place of a superseded payload that was not kept any longer (D17).'),
  },
  {
    title: 'ContactPayload',
    description:
      'The state of one contact at one moment. Every field but contact_ref may be absent or null; unknown fields pass.',
  },
)

/** A contact payload that fulfils the contract. Unknown members may be there; they have no place in the type. */
export type ContactPayload = Readonly<Type.Static<typeof ContactPayload>>
