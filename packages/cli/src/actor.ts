/** The actor that a change made at the command line is recorded under. */
import { createHash } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Actor } from '@property-events/server'
import type { SettingReader } from './settings/read-settings.ts'
import { settings } from './settings/settings.ts'

/** The id in PROPERTY_EVENTS_ACTOR, otherwise one that is always the same for an account on a machine and reveals the name of neither. */
export function readActor(reader: SettingReader): Actor {
  const given = reader.value(settings.actor)
  if (given !== undefined) return `cli:${given}`
  const account = process.getuid?.() ?? userInfo().username
  const digest = createHash('sha256').update(`property-events ${account}@${hostname()}`).digest('hex')
  return `cli:${digest.slice(0, 12)}`
}
