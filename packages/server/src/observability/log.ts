import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Members that would hold a secret or somebody's data, wherever they turn up in a logged object. */
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
 * A logger of JSON lines, to stderr by default: stdout belongs to what the program prints for its caller. What the
 * service logs holds no key, payload or query in the first place; the redaction is a second net.
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
