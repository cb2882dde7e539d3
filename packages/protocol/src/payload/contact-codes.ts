/** The code lists of contacts. They are this project's own, as the payload is (D18). */
import { textCodes } from './code-list.ts'

/** `kind` of a contact. */
export const contactKinds = textCodes('contact kind', [
  ['person', 'Person'],
  ['company', 'Company'],
])

/** `roles[]` of a contact and `properties[].role`. Open: another role passes, with a warning. */
export const contactRoles = textCodes('contact role', [
  ['applicant', 'Applicant: looks for a property'],
  ['buyer', 'Buyer'],
  ['vendor', 'Vendor'],
  ['landlord', 'Landlord'],
  ['tenant', 'Tenant'],
  ['guarantor', 'Guarantor of a tenant'],
  ['solicitor', 'Solicitor or conveyancer'],
  ['mortgage_broker', 'Mortgage broker'],
  ['surveyor', 'Surveyor'],
  ['developer', 'Developer'],
  ['contractor', 'Contractor for repairs'],
  ['other', 'Other'],
])

/** `communications[].channel` of a contact. Open: another channel passes, with a warning. */
export const contactChannels = textCodes('contact channel', [
  ['email', 'E-mail address'],
  ['phone', 'Telephone, fixed line'],
  ['mobile', 'Mobile telephone'],
  ['post', 'Letter to the address'],
  ['fax', 'Fax'],
  ['website', 'Website'],
  ['other', 'Other'],
])
