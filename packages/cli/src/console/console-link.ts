/** Links that sign a person in to the console, once (PROTOCOL §15). */
import { linkLengthMs, makeLoginLink } from '@property-events/server'
import type { StorageEngine } from '@property-events/server'

export interface ConsoleLink {
  readonly url: string
  /** Milliseconds since 1970. */
  readonly expiresMs: number
}

/** `serviceUrl`: the address that people use, with the base path. The secret follows the `#`, where no log or proxy sees it. */
export async function consoleLink(
  storage: Pick<StorageEngine, 'consoleSessions'>,
  keyId: string,
  serviceUrl: string,
): Promise<ConsoleLink> {
  const nowMs = Date.now()
  const secret = await makeLoginLink(storage.consoleSessions, keyId, nowMs)
  return { url: `${serviceUrl}/console/#login=${secret}`, expiresMs: nowMs + linkLengthMs }
}
