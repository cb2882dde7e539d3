/** Writes the JSON Schema files of both payloads beside this script: `node packages/protocol/schemas/write.ts`. */
import { writeFileSync } from 'node:fs'
import { payloadSchemaFiles } from '../src/payload/schema-files.ts'

for (const { name, text } of payloadSchemaFiles()) writeFileSync(new URL(name, import.meta.url), text)
