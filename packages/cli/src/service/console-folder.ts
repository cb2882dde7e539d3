/** The folder of the built page of the console: next to the program in its package, in a separate package in the source. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const places = ['../../console', '../../../console/built']

/** `undefined` if it was not built. */
export function consoleFolder(): string | undefined {
  return places
    .map((place) => join(import.meta.dirname, place))
    .find((folder) => existsSync(join(folder, 'index.html')))
}
