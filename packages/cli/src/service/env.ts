/** `env`: the variables of a running demo, for `eval "$(property-events env)"`. */
import type { Command } from 'commander'
import { createClient, NetworkError, PropertyEventsError } from '@property-events/client'
import { readSavedDemo } from '@property-events/demo/keys'
import type { SavedDemo, TenantKeys } from '@property-events/demo/keys'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { storeFlags } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { publishKeyVariable, settings } from '../settings/settings.ts'
import { plainText, shellWord } from '../terminal-text.ts'
import { variableOf } from '../settings/setting.ts'

/** A demo is on this machine. */
const answerMs = 5_000

export function addEnv(program: Command, context: CommandContext): void {
  const command = program
    .command('env')
    .description('print the address and the keys of a running demo, for eval "$(…)"')
    .option('--tenant <tenant>', 'id or name of one of its agencies (default: the first)')
  addSettings(command, [settings.data])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const data = reader.value(settings.data)
    reader.finish()
    const store = storeFlags(flags, data)
    const kept = readSavedDemo(data)
    if (kept === undefined) {
      throw new Refusal(
        `No demo has been started with the data folder ${data}. If its folder is another, name it with --data. ${howToStart(store)}`,
      )
    }
    const tenant = chosenTenant(kept, flagText(flags, 'tenant'))
    await checkAnswer(kept, tenant, store)
    const { url } = kept
    if (output.json) return output.writeJson({ url, data, ...tenant })
    await output.write(demoVariables({ url, data, tenant }))
  })
}

function chosenTenant({ tenants }: SavedDemo, wanted: string | undefined): TenantKeys {
  const tenant = tenants.find(
    ({ tenantId, name }) => wanted === undefined || [tenantId, name].includes(wanted),
  )
  if (tenant !== undefined) return tenant
  const names = tenants.map(({ name }) => name).join(', ')
  throw new Refusal(`The demo has no agency "${plainText(wanted ?? '')}"; it has ${names}.`)
}

/** Variables of a demo that has ended would be worse than none. */
async function checkAnswer({ url }: SavedDemo, { readKey }: TenantKeys, store: string): Promise<void> {
  const client = createClient({
    baseUrl: url,
    key: readKey,
    retry: { attempts: 1 },
    attemptTimeoutMs: answerMs,
  })
  try {
    await client.heads()
  } catch (error) {
    if (!(error instanceof PropertyEventsError)) throw error
    const what =
      error instanceof NetworkError
        ? `${url}, the demo of this folder, does not answer.`
        : `${url} is not the demo of this folder, or its keys were changed.`
    throw new Refusal(`${what} ${howToStart(store)}`)
  }
}

function howToStart(store: string): string {
  return `Start it in another terminal: ${commandLine('demo', store)}`
}

interface RunningDemo {
  readonly url: string
  /** The data folder. */
  readonly data: string
  /** The agency that is published for and read. */
  readonly tenant: TenantKeys
}

/** The variables that all documents use, as one line for a shell. */
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
