import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import type { LogLevel } from './log-text.ts'
import { logText } from './log-text.ts'

/** JSON lines for machines; short lines for a person, with or without colours. */
export type LogForm = 'json' | 'plain' | 'coloured'

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
 * A logger that writes JSON lines unless another form is asked for. It writes to stderr by default, because stdout is for what the
 * program prints. The service logs no key, payload or query in the first place; the redaction is a second safeguard.
 */
export function createLogger(options: {
  readonly level: LogLevel
  readonly form?: LogForm
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
    inForm(options.form ?? 'json', options.destination ?? pino.destination({ dest: 2, sync: true })),
  )
}

function inForm(form: LogForm, destination: DestinationStream): DestinationStream {
  if (form === 'json') return destination
  return { write: (line) => destination.write(logText(line, form === 'coloured')) }
}
