import type { Invocation } from '../command-context.ts'
import type { ServeOptions, StartedService } from './start-service.ts'

/** What a command does once its service listens: load, announce. It ends with the signal at the latest. */
export type ServeStage = (
  started: StartedService,
  invocation: Invocation,
  options: ServeOptions,
  signal: AbortSignal,
) => Promise<void>
