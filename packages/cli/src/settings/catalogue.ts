import { existsSync, readFileSync } from 'node:fs'
import { catalogueFault, catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

/** A preset by its name, or a JSON file (D12); `undefined` if it is neither. Refuses a file that is not a catalogue, with the fault. */
export function readCatalogue(nameOrPath: string): EventTypeCatalogue | undefined {
  if (nameOrPath === 'default' || nameOrPath === 'published-0') return catalogues[nameOrPath]
  if (!existsSync(nameOrPath)) return undefined
  const name = `The catalogue ${plainText(nameOrPath)}`
  const value = parseJson(readText(nameOrPath, name), name)
  const fault = catalogueFault(value)
  if (fault !== undefined || !isCatalogue(value))
    throw new Refusal(`In the catalogue ${plainText(nameOrPath)}: ${fault ?? ''}`)
  return { property: value.property, contact: value.contact }
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Refusal(
      `${name} cannot be read (${reasonOf(error)}). Name a JSON file that this user may read.`,
    )
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`${name} is not JSON: ${reasonOf(error)}. Correct the file, or name another.`)
  }
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error))
}

function isCatalogue(value: unknown): value is EventTypeCatalogue {
  return catalogueFault(value) === undefined
}
