/** Where the program keeps what it needs between its runs and what nobody else should read. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Environment } from './read-settings.ts'

/**
 * `property-events` in the user's folder for state: `XDG_STATE_HOME` where that is set to an absolute path (the XDG Base
 * Directory Specification takes no other), else what is usual on the platform. Nothing is made.
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
