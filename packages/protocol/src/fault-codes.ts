/** What can need an operator's attention (PROTOCOL §12.11). */

/** The worst first. Further ones may come. */
export const faultCodes = [
  'key_refused',
  'publication_refused',
  'publisher_silent',
  'consumer_silent',
  'key_ending',
] as const
export type FaultCode = (typeof faultCodes)[number]
