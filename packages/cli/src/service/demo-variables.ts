/** The variables that all documents use, as one line for a shell. */
import type { TenantKeys } from '@property-events/demo/keys'
import { variableOf } from '../settings/setting.ts'
import { publishKeyVariable, settings } from '../settings/settings.ts'
import { shellWord } from '../terminal-text.ts'

interface RunningDemo {
  readonly url: string
  /** The data folder. */
  readonly data: string
  /** The agency that is published for and read. */
  readonly tenant: TenantKeys
}

export function demoVariables({ url, data, tenant }: RunningDemo): string {
  const variables = {
    [variableOf(settings.url)]: url,
    [variableOf(settings.key)]: tenant.readKey,
    [publishKeyVariable]: tenant.publishKey,
    TENANT: tenant.tenantId,
    DATA: data,
  }
  const written = Object.entries(variables).map(([name, value]) => `${name}=${shellWord(value)}`)
  return `export ${written.join(' ')}\n`
}
