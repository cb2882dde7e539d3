/**
 * Writes what is made of the schemas and code lists: beside this script, into the client and beside the PHP example.
 * `node packages/protocol/schemas/write.ts`.
 */
import { writeFileSync } from 'node:fs'
import {
  changesModule,
  clientWireModule,
  codeNamesModule,
  codeNamesPhp,
  listingTablesPhp,
  namedSchemasText,
  payloadCheckFiles,
  payloadSchemaFiles,
  problemCodesModule,
  payloadTypesModule,
  wireModule,
} from './index.ts'

for (const { name, text } of [...payloadSchemaFiles(), ...payloadCheckFiles()]) {
  writeFileSync(new URL(name, import.meta.url), text)
}
writeFileSync(new URL('named-schemas.json', import.meta.url), namedSchemasText())
writeFileSync(new URL('wire.ts', import.meta.url), wireModule())
writeFileSync(new URL('../../client/src/problem-codes.ts', import.meta.url), problemCodesModule())
writeFileSync(new URL('../../client/src/wire.ts', import.meta.url), clientWireModule())
writeFileSync(new URL('../../client/src/listing/code-names.ts', import.meta.url), codeNamesModule())
writeFileSync(new URL('../../client/src/payload/changes.ts', import.meta.url), changesModule())
writeFileSync(new URL('../../client/src/payload/payload-types.ts', import.meta.url), payloadTypesModule())
writeFileSync(
  new URL('../../../examples/php/CodeNames.php', import.meta.url),
  codeNamesPhp() + listingTablesPhp(),
)
