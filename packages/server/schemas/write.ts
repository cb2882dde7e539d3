/** Writes the named schemas of the OpenAPI document beside this script: `node packages/server/schemas/write.ts`. */
import { writeFileSync } from 'node:fs'
import { namedSchemasText } from './named-schemas.ts'

writeFileSync(new URL('named-schemas.json', import.meta.url), namedSchemasText())
