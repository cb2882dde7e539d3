import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Members that would hold a secret or personal data, wherever they occur in a logged object. */
const secretMembers = [
  'x-api-key',
  'authorization',
  'cookie',
  'apiKey',
  'key',
  'secret',
  'pepper',
  'payload',
  'body',
  'query',
]

/**
 * A logger of JSON lines, to stderr by default, because stdout is for what the program prints. The service logs no key,
 * payload or query in the first place; the redaction is a second safeguard.
 */
export function createLogger(options: {
  readonly level: LogLevel
  readonly destination?: DestinationStream
}): Logger {
  const paths = secretMembers.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
  return pino(
    {
      level: options.level,
      base: null,
      redact: { paths, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  )
}
