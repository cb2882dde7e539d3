/**
 * The schemas themselves, as TypeBox objects, and the files generated from them. They are for tests and for `npm run openapi`: an
 * installed program has no TypeBox.
 */
export { namedSchemasText } from './named-schemas.ts'
export { codedFields, codeNamesModule, codeNamesPhp } from '../src/payload/generators/code-name-files.ts'
export { payloadTypesModule } from '../src/payload/generators/payload-types.ts'
export { payloadCheckFiles } from '../src/payload/generators/check-files.ts'
export { ContactPayload } from '../src/payload/contact.ts'
export { PropertyPayload } from '../src/payload/property.ts'
export { payloadSchemaFiles } from '../src/payload/generators/schema-files.ts'
export type { SchemaFile } from '../src/payload/generators/schema-files.ts'
export { changesModule } from './generators/changes-file.ts'
export { listingTablesPhp } from './generators/php-tables.ts'
export { problemCodesModule } from './generators/problem-codes-file.ts'
export { clientWireModule, wireModule } from './generators/wire-files.ts'
