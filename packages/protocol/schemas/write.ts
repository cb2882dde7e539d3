/** Writes what is made of the payloads' schemas beside this script: `node packages/protocol/schemas/write.ts`. */
import { writeFileSync } from 'node:fs'
import { payloadCheckFiles, payloadSchemaFiles } from '../src/schemas.ts'

for (const { name, text } of [...payloadSchemaFiles(), ...payloadCheckFiles()]) {
  writeFileSync(new URL(name, import.meta.url), text)
}
