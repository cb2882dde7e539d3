/** What events carry: the payloads of properties and contacts, their contract, and advice about them. */
export { adviseContact, adviseProperty } from './advise.ts'
export type { PayloadAdvice } from './advise.ts'
export type { PayloadAdviceCode } from './advice-rules.ts'
export { impliesLettings } from './category.ts'
export { checkContactPayload, checkPropertyPayload } from './check-contract.ts'
export type { ContactPayload } from './contact.ts'
export type { PayloadFault, PayloadFaultCode } from './find-faults.ts'
export type { PropertyPayload } from './property.ts'
