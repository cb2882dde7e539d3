/** `serve` and `demo`: the service, until a signal. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runSandbox } from '@property-events/demo/sandbox'
import { sandboxTenantId } from '@property-events/protocol'
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { storeFlags } from '../open-store.ts'
import { withoutReader } from '../output.ts'
import { commandLine, epochCommand, epochNumber } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { demoSettingsAt, readServeOptions, serveSettings } from '../settings/serve-settings.ts'
import { settings } from '../settings/settings.ts'
import { aborted, stopSignal } from '../stop-signal.ts'
import { boxText } from '../terminal-text.ts'
import { shownSettings } from './config.ts'
import { demo } from './demo.ts'
import { startService } from './start-service.ts'
import type { ServeOptions, ServeStage } from './start-service.ts'

export function addServe(program: Command, context: CommandContext): void {
  const command = program.command('serve').description('serve the store of a data folder')
  addSettings(command, serveSettings)
  addAction(command, context, (invocation) => run(invocation, serve, { isDemo: false }))
}

export function addDemo(program: Command, context: CommandContext): void {
  const command = program
    .command('demo')
    .description('serve a demo market of invented homes, loaded on the first start')
    .option(
      '--live',
      'keep the market changing, and read by consumers: a change every few seconds (the default)',
    )
    .option('--no-live', 'a market without changes and without consumers')
  addSettings(command, demoSettingsAt(settings.host.fallback))
  addAction(command, context, (invocation) => run(invocation, demo, { isDemo: true }))
}

/** Starts, runs the given stage (which loads and announces), waits for a signal, and stops without losing an answer. */
async function run(
  invocation: Invocation,
  stage: ServeStage,
  { isDemo }: { readonly isDemo: boolean },
): Promise<void> {
  const { logForm } = invocation.output
  const given = readServeOptions(invocation.settings, { isDemo })
  invocation.settings.finish()
  const folder = consoleFolderOf(given, isDemo)
  const set = shownSettings(invocation.settings, isDemo ? demoSettingsAt(given.host) : serveSettings)
  // As it is, since a demo needs no setting for it.
  const isOn = folder === undefined ? 'off' : 'on'
  const shown = set.map((one) => (one.name === settings.console.name ? { ...one, value: isOn } : one))
  const showsMarket = isDemo || given.testKeys !== 'off'
  const pictures = showsMarket ? (await import('@property-events/demo/photographs')).photographAt : undefined
  const flags = storeFlags(invocation.flags, given.data)
  const options = { ...given, logForm, pictures, consoleFolder: folder, shown, storeFlags: flags }
  const signal = stopSignal()
  const started = await startService(options, signal).catch((error: unknown) => {
    // It was stopped while it waited for its database.
    if (signal.aborted) return undefined
    throw error
  })
  if (started === undefined) return
  const { testKeys } = options
  const moving =
    testKeys === 'off'
      ? undefined
      : runSandbox({
          storage: started.storage,
          publisher: started.service.publisher,
          mediaUrl: `${testKeys}/pictures`,
          signal,
          say: (line) => invocation.output.say(line),
        })
  try {
    // `serve | head` shows the address and the service continues.
    await stage(started, { ...invocation, output: withoutReader(invocation.output) }, options, signal)
    await aborted(signal)
    // With SIGTERM a supervisor stops one node of several; a person who presses Ctrl-C is waiting for the end.
    if (signal.reason === 'SIGTERM' && options.drainMs > 0) {
      await started.service.drain()
      await delay(options.drainMs)
    }
  } finally {
    if (signal.aborted) await moving
    await started.close()
  }
}

/** A demo has its console on. */
function consoleFolderOf(
  { console: isOn }: Pick<ServeOptions, 'console'>,
  isDemo: boolean,
): string | undefined {
  const folder = isOn || isDemo ? consoleFolder() : undefined
  if (isOn && folder === undefined) {
    throw new Refusal(
      'The console is not in this copy of the program. In the source, npm run console builds it.',
    )
  }
  return folder
}

const serve: ServeStage = async ({ service, storage }, { output, flags }, options) => {
  const { url, metricsUrl } = service
  const waits = (await storage.epochNeed()) !== 'none'
  const isStopped = (await storage.maintenance()) !== undefined
  const page = options.consoleFolder === undefined ? undefined : `${options.publicUrl ?? url}/console/`
  if (output.json) {
    const publishing = waits ? 'epoch_required' : isStopped ? 'maintenance' : undefined
    return output.writeJson({
      url,
      metricsUrl,
      ...(page && { console: page }),
      ...(publishing && { publishing }),
    })
  }
  const lines = [
    `Property Events  ${url}`,
    ...(page === undefined ? [] : [`Console          ${page}`]),
    `Documentation    ${url}/docs`,
    `Metrics          ${metricsUrl ?? 'off'}`,
    ...(waits ? ['Publishing       waits for `epoch start`'] : []),
    ...(isStopped ? ['Publishing       is stopped until `maintenance off`'] : []),
  ]
  await output.write(boxText(lines))
  const store = storeFlags(flags, options.data)
  if (waits) return output.write(epochHint(store))
  const tenants = await storage.tenants.tenants()
  if (tenants.some(({ tenantId }) => tenantId !== sandboxTenantId)) return
  await output.write(firstSteps(store))
}

/** Outside the frame, so that it can be copied. */
function epochHint(store: string): string {
  return (
    'This store is a restored copy, or has lost published events. It can be read. Before anything is published, run:\n' +
    `${epochCommand(store)}\n${epochNumber}.\n`
  )
}

/** Outside the frame, so that they can be copied. */
function firstSteps(store: string): string {
  const key = (scope: string, label: string) =>
    commandLine(`keys create --tenant "Hill & Co" --scope ${scope} --label ${label}`, store)
  const lines = [
    'Create a tenant, and keys for publishing and for reading:',
    commandLine('tenants create "Hill & Co"', store),
    key('publish', 'CRM'),
    key('read', 'website'),
  ]
  return `${lines.join('\n')}\n`
}

const consoleFolders = ['../../console', '../../../console/built']

/** `undefined` if it was not built. */
function consoleFolder(): string | undefined {
  return consoleFolders
    .map((folder) => join(import.meta.dirname, folder))
    .find((folder) => existsSync(join(folder, 'index.html')))
}
