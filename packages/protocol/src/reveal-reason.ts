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
