/**
 * The schemas themselves, as TypeBox objects, and the files generated from them. They are for tests and for `npm run openapi`: an
 * installed program has no TypeBox.
 */
export { EventPage, FeedEvent } from './event.ts'
export { Problem, ProblemError } from './problem.ts'
export { PublishReceipt, PublishWarning, ReceiptEvent } from './receipt.ts'
export { codedFields, codeNamesModule, codeNamesPhp } from './payload/generators/code-name-files.ts'
export { payloadTypesModule } from './payload/generators/payload-types.ts'
export { payloadCheckFiles } from './payload/generators/check-files.ts'
export { ContactPayload } from './payload/contact.ts'
export { PropertyPayload } from './payload/property.ts'
export { payloadSchemaFiles } from './payload/generators/schema-files.ts'
export type { SchemaFile } from './payload/generators/schema-files.ts'
