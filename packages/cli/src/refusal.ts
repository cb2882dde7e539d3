import { nearestName } from '@property-events/protocol'

/**
 * The message of the program when it cannot do what the command asks for: whole sentences that say what to do. It ends
 * with exit code 1. Thrown by commands and caught once, in `main`; every other error there is a fault of the program or
 * of the machine.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** ` Did you mean X?`, or nothing. */
export function suggest(written: string, candidates: readonly string[]): string {
  const meant = nearestName(written, candidates)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}
