/** A store in a place, and a program that works on it until it is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

export interface Place {
  readonly kind: 'sqlite' | 'postgres'
  /** Folder or address. */
  readonly name: string
}

/** A new place of each engine, while `use` runs. */
export const places: readonly (readonly [string, (use: (place: Place) => Promise<void>) => Promise<void>])[] =
  [
    [
      'SQLite',
      async (use) => {
        using folder = temporaryFolder()
        await use({ kind: 'sqlite', name: folder.path })
      },
    ],
    ['PostgreSQL', async (use) => use({ kind: 'postgres', name: await (await sharedDatabases()).create() })],
  ]

export function openPlace({ kind, name }: Place, create = false): Promise<StorageEngine> {
  const given = { create, ...(create ? { catalogue: catalogues.default } : {}) }
  return openStorage(
    kind === 'sqlite' ? { kind, folder: name, ...given } : { kind, url: name, readConnections: 2, ...given },
  )
}

/**
 * Runs a program of this folder, which writes a line for each step, and kills it after so many, or in the middle of the next one. What it
 * had asked of a database's server may still be done after that.
 */
export async function killAfter(
  program: string,
  { kind, name }: Place,
  words: readonly string[],
  steps: number,
): Promise<void> {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, [file, kind, name, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    if (seen.split('\n').length > steps) child.kill('SIGKILL')
  })
  await once(child, 'close')
}

/** After so many steps the process is killed for the nth time: now early, now late. */
export function stepsBefore(kill: number): number {
  return 1 + ((kill * 7) % 13)
}

/** So many events a step that the kills lie all over the work: 8 steps are done for each on average, and some in which it is killed. */
export function eventsPerStep(events: number, kills: number): number {
  return Math.max(5, Math.floor(events / (kills * 10)))
}
