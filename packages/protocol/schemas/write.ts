/**
 * Writes what is made of the payloads' schemas and code lists: beside this script, into the client and beside the PHP example.
 * `node packages/protocol/schemas/write.ts`.
 */
import { writeFileSync } from 'node:fs'
import {
  codeNamesModule,
  codeNamesPhp,
  payloadCheckFiles,
  payloadSchemaFiles,
  payloadTypesModule,
} from '../src/schemas.ts'

for (const { name, text } of [...payloadSchemaFiles(), ...payloadCheckFiles()]) {
  writeFileSync(new URL(name, import.meta.url), text)
}
writeFileSync(new URL('../../client/src/listing/code-names.ts', import.meta.url), codeNamesModule())
writeFileSync(new URL('../../client/src/payload/payload-types.ts', import.meta.url), payloadTypesModule())
writeFileSync(new URL('../../../examples/php/CodeNames.php', import.meta.url), codeNamesPhp())
