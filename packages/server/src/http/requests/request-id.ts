import { randomBytes } from 'node:crypto'

/** 40 random bits per process and a counter: unique in the log, and cheap. */
const idPrefix = randomBytes(5).toString('hex')
let lastId = 0

/**
 * The caller's own `x-request-id` when it is 1 to 64 letters, digits or `. _ -` and does not look like a key; else a
 * new one.
 */
export function requestIdOf(given: string | undefined): string {
  if (given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !given.includes('pev_')) return given
  lastId += 1
  return `${idPrefix}-${lastId.toString(36)}`
}
