/** The version of the program, as its package says. */
import packageJson from '../package.json' with { type: 'json' }

/**
 * The header that names it: on documents and on the operator's port. Not on answers of feeds, where it would be 34 bytes of each and
 * tell every reader which faults to try.
 */
export const versionHeaders = { 'x-property-events-version': packageJson.version } as const
