/** What a key may be limited to in a contact feed (D11): contacts with some roles, and some members of their payloads. */

/** `roles` of a contact, as the code list of contacts has them. */
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

export type ContactRole = (typeof contactRoleNames)[number]

/** Members of a contact's payload that a key can be given or not. Its reference, and that it is gone, every key is given. */
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

export type ContactField = (typeof contactFields)[number]

/** Of a limited key that names no fields: all but free text. */
export const usualContactFields: readonly ContactField[] = contactFields.filter((field) => field !== 'notes')

export interface ContactLimits {
  /** Only contacts with one of these roles, for the agency or for a property. Left out: all contacts. */
  readonly roles?: readonly ContactRole[]
  /** Only these members. Left out: `usualContactFields`. */
  readonly fields?: readonly ContactField[]
}
