/** The version of the program, as its package says. */
import packageJson from '../../package.json' with { type: 'json' }

/**
 * The header that contains it, on documents and on the operator's port. Answers of feeds do not have it: it would add 34 bytes to each
 * and tell every reader which faults to try.
 */
export const versionHeaders = { 'x-property-events-version': packageJson.version } as const
