/** A peer that cannot be measured on this machine is left out, with a sentence that says what would help. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Disposable, like the peer that it replaces. */
export interface Missing extends AsyncDisposable {
  readonly missing: string
}

export function isMissing(peer: object): peer is Missing {
  return 'missing' in peer
}

export function missing(reason: string): Missing {
  return { missing: reason, [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** Where Debian installs servers; not in everybody's path. */
const serverFolders = ['/usr/sbin', '/usr/local/sbin']

/** Why a program cannot be used: it is not installed. `undefined` if it is. */
export function missingProgram(program: string, debianPackage: string): Missing | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...serverFolders]
  if (folders.some((folder) => existsSync(join(folder, program)))) return undefined
  return missing(`${program} is not installed (Debian: apt-get install ${debianPackage})`)
}
