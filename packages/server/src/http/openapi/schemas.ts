/** The named schemas of the OpenAPI document, as `npm run openapi` has written them (protocol/schemas). */
import { readFileSync } from 'node:fs'
import type { SchemaName } from '@property-events/protocol/wire'

/** Reads the file instead of importing it: an imported file stays in memory, and the document is made once. */
export function readNamedSchemas(): unknown {
  const file = new URL(import.meta.resolve('@property-events/protocol/named-schemas.json'))
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** A reference to a named schema. */
export function refTo(name: SchemaName): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}
