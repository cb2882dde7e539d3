/** Why personal data must be kept although it could be erased. It is a code, so that no name and no story is stored next to it (D17). */
export const holdGrounds = [
  /** To establish, exercise or defend a legal claim. */
  'legal_claim',
  /** A law requires it to be kept, as for customer checks or taxes. */
  'legal_obligation',
  /** A complaint is being dealt with. */
  'complaint',
  /** A supervisory authority or an ombudsman has asked for it. */
  'regulator',
  /** The police or a court has asked for it. */
  'law_enforcement',
] as const

export type HoldGround = (typeof holdGrounds)[number]

/** Why personal data is erased. It is a code, so that no name and no story is stored next to what was erased (D17). */
export const erasureReasons = [
  /** The person has asked for it. */
  'data_subject_request',
  'consent_withdrawn',
  'objection',
  /** The purpose it was kept for has ended. */
  'no_longer_needed',
  'unlawful',
  'legal_obligation',
  /** It was published by mistake. */
  'published_in_error',
] as const

/** The reason of an erasure that was repeated because an older state of the store had been restored. Nobody can request it. */
export const replayedReason = 'replayed'

/** The reasons that a receipt can contain. */
export const receiptReasons = [...erasureReasons, replayedReason] as const

export type ErasureReason = (typeof receiptReasons)[number]

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

/** Why an operator reads a contact in full. These are codes, so that nobody's name appears in the audit log. */
export const revealReasons = [
  /** The person has asked what data is held. */
  'subject_request',
  /** Somebody has asked for help with this contact. */
  'support',
  'complaint',
  /** Somebody says that the data is wrong. */
  'correction',
  /** A law or a court requires it. */
  'legal_obligation',
  /** To find out what happened. */
  'security_incident',
] as const

export type RevealReason = (typeof revealReasons)[number]
