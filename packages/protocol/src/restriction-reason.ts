/** Why a contact's data is kept but not shown (D17): the cases of Article 18(1) of the UK GDPR, as codes. */
export const restrictionReasons = [
  /** The person says that the data is wrong, and it is being checked. */
  'accuracy_contested',
  /** It should not have been processed, and the person wants it kept. */
  'unlawful',
  /** The data is no longer needed, but the person needs it for a legal claim. */
  'legal_claim',
  /** The person has objected, and the decision is pending. */
  'objection',
] as const

export type RestrictionReason = (typeof restrictionReasons)[number]
