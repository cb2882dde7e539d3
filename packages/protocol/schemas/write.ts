/**
 * Writes what is made of the schemas and code lists: beside this script, into the client and beside the PHP example.
 * `node packages/protocol/schemas/write.ts`.
 */
import { writeFileSync } from 'node:fs'
import {
  codeNamesModule,
  codeNamesPhp,
  payloadCheckFiles,
  payloadSchemaFiles,
  payloadTypesModule,
} from './index.ts'
import { namedSchemasText } from './named-schemas.ts'

for (const { name, text } of [...payloadSchemaFiles(), ...payloadCheckFiles()]) {
  writeFileSync(new URL(name, import.meta.url), text)
}
writeFileSync(new URL('named-schemas.json', import.meta.url), namedSchemasText())
writeFileSync(new URL('../../client/src/listing/code-names.ts', import.meta.url), codeNamesModule())
writeFileSync(new URL('../../client/src/payload/payload-types.ts', import.meta.url), payloadTypesModule())
writeFileSync(new URL('../../../examples/php/CodeNames.php', import.meta.url), codeNamesPhp())
