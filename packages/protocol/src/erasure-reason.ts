/** Why personal data is erased: a code, so that no name and no story stands beside what was erased (D17). */
export const erasureReasons = [
  /** The person has asked for it. */
  'data_subject_request',
  'consent_withdrawn',
  'objection',
  /** What it was kept for is over. */
  'no_longer_needed',
  'unlawful',
  'legal_obligation',
  /** It was published by mistake. */
  'published_in_error',
] as const

/** Of an erasure that was carried out again, because an older state of the store had come back. Nobody can ask for it. */
export const replayedReason = 'replayed'

/** What a receipt can say. */
export const receiptReasons = [...erasureReasons, replayedReason] as const

export type ErasureReason = (typeof receiptReasons)[number]
