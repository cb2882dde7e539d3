/** Why an operator reads a contact as it is: codes, so that nobody's name stands in the audit. */
export const revealReasons = [
  /** The person has asked what is held. */
  'subject_request',
  /** Somebody has asked for help with this contact. */
  'support',
  'complaint',
  /** What is held is said to be wrong. */
  'correction',
  /** A law or a court asks for it. */
  'legal_obligation',
  /** To find out what has happened. */
  'security_incident',
] as const

export type RevealReason = (typeof revealReasons)[number]
