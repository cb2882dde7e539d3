/** The comparison of payloads as the client has it: its copy, since a package without dependencies imports nothing of ours. */
import { readFileSync } from 'node:fs'

/** `packages/client/src/payload/changes.ts`. */
export function changesModule(): string {
  const source = readFileSync(new URL('../../src/changes.ts', import.meta.url), 'utf8')
  return source.replace(/ \*\/\n/, ' Written by `npm run openapi`. Do not edit. */\n')
}
