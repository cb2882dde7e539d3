/**
 * What both ends share apart from payloads: names, numbers, texts and times. A thread that only writes imports this,
 * because loading the rules and codes of payloads takes 10 ms and 3 MB.
 */
export * from './erasure-reason.ts'
export * from './event-types.ts'
export * from './feeds.ts'
export * from './hold-ground.ts'
export type { JsonFault, JsonFaultCode, JsonLimits, MemberSpan } from './json-scan.ts'
export type { JsonItem, JsonItemReading, ItemLimits } from './json-items.ts'
export { afterBlanks, maxBytesAtOnce, readItems, readRange, readRangeInPieces } from './json-items.ts'
export { findSyntaxFault, placeOf } from './json-syntax-fault.ts'
export type { TextPlace } from './json-syntax-fault.ts'
export { compactJson, readJson, readJsonInPieces, setMembers } from './json-text.ts'
export type { JsonReading } from './json-text.ts'
export * from './key-text.ts'
export * from './nearest-name.ts'
export * from './plain-text.ts'
export * from './restriction-reason.ts'
export * from './subject-reference.ts'
export * from './timestamp.ts'
export * from './uuid.ts'
export { readWholeNumber } from './whole-number.ts'
export type { NumberRange } from './whole-number.ts'
