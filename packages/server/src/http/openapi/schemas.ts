/** The named schemas of the OpenAPI document, as `npm run openapi` has written them (schemas/named-schemas.ts). */
import { readFileSync } from 'node:fs'
import type { SchemaName } from '../../../schemas/named-schemas.ts'

/** Reads the file instead of importing it: an imported file stays in memory, and the document is made once. */
export function readNamedSchemas(): unknown {
  return JSON.parse(readFileSync(new URL('../../../schemas/named-schemas.json', import.meta.url), 'utf8'))
}

/** A reference to a named schema. */
export function refTo(name: SchemaName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}
