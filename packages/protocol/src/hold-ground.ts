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
