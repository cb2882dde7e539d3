/**
 * What both ends share that is no schema: names, numbers, texts and times. A thread that only writes imports this, because
 * loading the schemas and their library makes it ready 75 ms later and 2 MB larger.
 */
export * from './event-types.ts'
export * from './feeds.ts'
export type { JsonFault, JsonFaultCode, JsonLimits, MemberSpan } from './json-scan.ts'
export * from './json-text.ts'
export * from './key-text.ts'
export * from './timestamp.ts'
export * from './uuid.ts'
