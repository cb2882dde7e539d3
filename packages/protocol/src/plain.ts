/**
 * What both ends share apart from payloads: names, numbers, texts and times. A thread that only writes imports this file, because loading
 * the rules and codes of payloads takes 10 ms and 3 MB.
 */
export * from './audit-words.ts'
export * from './changes.ts'
export * from './contact-grant.ts'
export * from './delivery.ts'
export { endpointReason } from './delivery-endpoint.ts'
export { deliveryStates } from './delivery-state.ts'
export type { ConsumerDelivery, DeliveryState } from './delivery-state.ts'
export * from './event-types.ts'
export * from './fault-codes.ts'
export * from './feeds.ts'
export type { JsonFault, JsonFaultCode, JsonLimits, MemberSpan } from './json/scan.ts'
export type { JsonItem, JsonItemReading, ItemLimits } from './json/items.ts'
export { afterBlanks, maxBytesAtOnce, readItems, readRange, readRangeInPieces } from './json/items.ts'
export { findSyntaxFault, textPositionOf } from './json/syntax-fault.ts'
export type { TextPosition } from './json/syntax-fault.ts'
export { findUtf8Fault, utf8FaultText } from './json/utf8-fault.ts'
export {
  compactJson,
  invalidJson,
  memberOf,
  memberText,
  readJson,
  readJsonInPieces,
  setMembers,
} from './json/text.ts'
export type { JsonReading } from './json/text.ts'
export * from './key-text.ts'
export * from './nearest-name.ts'
export * from './plain-text.ts'
export * from './privacy-codes.ts'
export * from './terms.ts'
export * from './timestamp.ts'
export * from './uuid.ts'
export * from './webhooks.ts'
export { readWholeNumber } from './whole-number.ts'
export type { NumberRange } from './whole-number.ts'
