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
