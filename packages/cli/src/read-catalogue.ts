import { readFileSync } from 'node:fs'
import { catalogueFault, catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { Refusal } from './refusal.ts'

/** A preset by its name, or a JSON file (D12). A file that is not a catalogue is refused with what is wrong in it. */
export function readCatalogue(nameOrPath: string): EventTypeCatalogue | undefined {
  if (nameOrPath === 'default' || nameOrPath === 'published-0') return catalogues[nameOrPath]
  let value: unknown
  try {
    value = JSON.parse(readFileSync(nameOrPath, 'utf8'))
  } catch {
    return undefined
  }
  const fault = catalogueFault(value)
  if (fault !== undefined || !isCatalogue(value))
    throw new Refusal(`In the catalogue ${nameOrPath}: ${fault ?? ''}`)
  return { property: value.property, contact: value.contact }
}

function isCatalogue(value: unknown): value is EventTypeCatalogue {
  return catalogueFault(value) === undefined
}
