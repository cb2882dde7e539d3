/** The folder for files that the program needs between its runs and that only its user should read. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Environment } from '../settings/read-settings.ts'

/**
 * `property-events` in the user's folder for state: `XDG_STATE_HOME` if that is set to an absolute path (the XDG Base Directory
 * Specification accepts no other), otherwise the usual folder of the platform. Creates nothing.
 */
export function stateFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  return join(stateHome(environment, platform, home), 'property-events')
}

function stateHome(environment: Environment, platform: NodeJS.Platform, home: string): string {
  const { XDG_STATE_HOME: given = '', LOCALAPPDATA: local = '' } = environment
  if (isAbsolute(given)) return given
  if (platform === 'win32') return local === '' ? join(home, 'AppData', 'Local') : local
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  return join(home, '.local', 'state')
}
