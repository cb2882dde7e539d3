import { ContactPayload } from '../contact.ts'
import { PropertyPayload } from '../property.ts'

/** One generated file of the folder `schemas`. */
export interface SchemaFile {
  /** Its file name; that of a JSON Schema is its `$id` too. */
  readonly name: string
  readonly text: string
}

/** Both payload schemas as JSON Schema (draft 2020-12) documents, with the text of their committed files. */
export function payloadSchemaFiles(): SchemaFile[] {
  return [
    schemaFile('property-payload.schema.json', PropertyPayload),
    schemaFile('contact-payload.schema.json', ContactPayload),
  ]
}

function schemaFile(name: string, schema: object): SchemaFile {
  const document = { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: name, ...schema }
  return { name, text: `${shortenArrays(JSON.stringify(document, null, 2))}\n` }
}

/** Puts arrays of words onto one line, as the formatter does. JSON strings never contain line breaks. */
function shortenArrays(json: string): string {
  return json.replaceAll(/\[\n\s+("[^"\n]*"(?:,\n\s+"[^"\n]*")*)\n\s+\]/g, (_, words: string) => {
    return `[${words.replaceAll(/,\n\s+/g, ', ')}]`
  })
}
