import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { importTenantLines, newKey, readImport } from '@property-events/server'
import type { ImportedLine } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from '../keys/pepper.ts'
import { changeSettings, withStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { jsonText } from '../terminal-text.ts'

/** `tenants import`: many tenants and their keys from a file, once for each reference (PROTOCOL §12.3). */
export function addImport(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('import')
    .description('create tenants and their keys from a file; the same file again creates what is missing')
    .argument(
      '<file>',
      'one JSON object a line: reference, name, keys (PROTOCOL §12.3); - for standard input',
    )
  addSettings(command, [...changeSettings, ...pepperSettings])
  addAction(command, context, async ({ output, settings: reader, flags }, [path = '']) => {
    const given = readPeppers(reader)
    reader.finish()
    const reading = await readImport(textOf(path), 'ndjson')
    if (reading.kind === 'faults') {
      throw new Refusal(`${reading.errors.map(({ message }) => message).join('\n')}\nNothing was created.`)
    }
    await withStore(reader, flags, async (store) => {
      const pepper = await pepperForNewKey(store, given)
      const parts = {
        tenants: store.storage.tenants,
        make: async (requests: readonly Parameters<typeof newKey>[1][]) =>
          requests.map((request) => newKey(pepper, request)),
      }
      const counts = { created: 0, known: 0, nameTaken: 0 }
      for await (const lines of importTenantLines(parts, reading.lines, store.actor)) {
        for (const { outcome } of lines) counts[outcome.kind] += 1
        // The keys of a commit are printed once it is on disk: they are shown nowhere else.
        await output.write(lines.map((line) => `${jsonText(lineJson(line))}\n`).join(''))
      }
      output.say(
        `${counts.created} created, ${counts.known} already existed, ${counts.nameTaken} with a name that is taken.`,
      )
      if (counts.nameTaken > 0) context.failed()
    })
  })
}

function lineJson({ line, outcome, tenantId, keys }: ImportedLine) {
  const words = { created: 'created', known: 'known', nameTaken: 'name_taken' } as const
  const shown = keys.map(({ keyId, label, text }) => ({ keyId, label, key: text }))
  return { reference: line.reference, outcome: words[outcome.kind], tenantId: tenantId ?? null, keys: shown }
}

function textOf(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new Refusal(`The file "${path}" cannot be read${code}.`)
  }
}
