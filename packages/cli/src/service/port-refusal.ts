import { Refusal } from '../refusal.ts'

interface WantedPorts {
  readonly port: number
  readonly metricsPort: number
}

/** What to do about a port that the service cannot have; `undefined` for an error of another kind. */
export function portRefusal(error: unknown, options: WantedPorts): Refusal | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code !== 'EADDRINUSE') return undefined
  const port = 'port' in error ? error.port : undefined
  if (port === options.metricsPort && port !== options.port) {
    return new Refusal(
      `Port ${options.metricsPort} for metrics is taken. Choose another with --metrics-port (0 for any free one).`,
    )
  }
  return new Refusal(
    `Port ${options.port} is taken. Stop the program that listens there, or choose another with --port (0 for any free one).`,
  )
}
