/** Everything both ends of the wire share: what a feed is, what an event is, and how their texts are read. */
export * from './event.ts'
export * from './plain.ts'
export * from './problem.ts'
export * from './receipt.ts'
export * from './payload/index.ts'
