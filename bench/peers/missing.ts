/** A peer that cannot be measured on this machine is left out, with a sentence that says what would help. */
import { spawnSync } from 'node:child_process'

export interface Missing {
  readonly missing: string
}

export function isMissing(peer: object): peer is Missing {
  return 'missing' in peer
}

/** Why a program cannot be used: it is not installed. `undefined` when it answers. */
export function missingProgram(
  program: string,
  debianPackage: string,
  flag = '--version',
): Missing | undefined {
  if (spawnSync(program, [flag]).error === undefined) return undefined
  return { missing: `${program} is not installed (Debian: apt-get install ${debianPackage})` }
}
