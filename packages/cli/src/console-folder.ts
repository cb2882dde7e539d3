/** Where the built page of the console lies: beside the program in its package, in a package of its own in the source. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const places = ['../console', '../../console/built']

/** `undefined`: it was not built. */
export function consoleFolder(): string | undefined {
  return places
    .map((place) => join(import.meta.dirname, place))
    .find((folder) => existsSync(join(folder, 'index.html')))
}
