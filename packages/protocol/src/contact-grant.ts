/** What a key can be limited to in a contact feed (D11): contacts with some roles, and some members of their payloads. */

/** The `roles` of a contact, as in the code list of contacts. */
export const contactRoleNames = [
  'applicant',
  'buyer',
  'vendor',
  'landlord',
  'tenant',
  'guarantor',
  'solicitor',
  'mortgage_broker',
  'surveyor',
  'developer',
  'contractor',
  'other',
] as const

type ContactRole = (typeof contactRoleNames)[number]

/** The members of a contact's payload that a key can include or leave out. Every key sees a contact's reference and its removal. */
export const contactFields = [
  'kind',
  'title',
  'first_name',
  'middle_name',
  'last_name',
  'suffix',
  'salutation',
  'company_name',
  'company_number',
  'job_title',
  'roles',
  'communications',
  'address',
  'branch_id',
  'properties',
  'notes',
  'create_date',
  'update_date',
  'service_reference',
] as const

type ContactField = (typeof contactFields)[number]

/** What a limited key sees if it names no fields: everything but free text. */
export const usualContactFields: readonly ContactField[] = contactFields.filter((field) => field !== 'notes')

export interface ContactLimits {
  /** Only contacts that have one of these roles, for the agency or for a property. Default: all contacts. */
  readonly roles?: readonly ContactRole[]
  /** Only these members. Default: `usualContactFields`. */
  readonly fields?: readonly ContactField[]
}
