/** The bare loops as cases: each run is a program of its own on the server's core. */
import { join } from 'node:path'
import type { BenchOptions } from '../jobs/context.ts'
import type { Case } from '../support/measure.ts'
import { runPinned, serverCore } from '../support/pinned.ts'
import { loadFigures } from '../support/wrk.ts'

export const sqliteDurability = 'WAL, synchronous=FULL'
export const postgresDurability = 'fsync=on, synchronous_commit=on'

/** On an empty store's file. */
export function sqliteLoop(options: BenchOptions, folder: string, events: number): Case {
  return loopCase('better-sqlite3 loop', events, sqliteDurability, 'loop-sqlite.ts', (seconds) => [
    folder,
    String(events),
    String(seconds),
    String(options.averageBytes),
  ])
}

/** On a database with an empty store. */
export function postgresLoop(
  options: BenchOptions,
  url: string,
  way: 'unnest' | 'copy',
  events: number,
): Case {
  return loopCase(`PostgreSQL ${way} loop`, events, postgresDurability, 'loop-postgres.ts', (seconds) => [
    url,
    way,
    String(events),
    String(seconds),
    String(options.averageBytes),
  ])
}

export function commitOf(events: number): string {
  return events === 1 ? '1 event a commit' : `${events} events a commit`
}

function loopCase(
  subject: string,
  events: number,
  durability: string,
  program: string,
  args: (seconds: number) => readonly string[],
): Case {
  return {
    subject,
    what: commitOf(events),
    events,
    durability,
    run: (seconds) =>
      loadFigures(undefined, () =>
        runPinned(serverCore, process.execPath, [join(import.meta.dirname, program), ...args(seconds)]),
      ),
  }
}
