/** Who a change made at the command line is noted as. */
import { createHash } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Actor } from '@property-events/server'
import type { SettingReader } from './read-settings.ts'
import { settings } from './settings.ts'

/**
 * The id of PROPERTY_EVENTS_ACTOR, else one that is always the same for an account of a machine and says the name of
 * neither.
 */
export function readActor(reader: SettingReader): Actor {
  const given = reader.value(settings.actor)
  if (given !== undefined) return `cli:${given}`
  const account = process.getuid?.() ?? userInfo().username
  const digest = createHash('sha256').update(`property-events ${account}@${hostname()}`).digest('hex')
  return `cli:${digest.slice(0, 12)}`
}
