/** Stops publication to a whole store for planned work, on every node that serves it, while reading continues. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { maintenanceNoticeMs } from '@property-events/server'
import type { Maintenance } from '@property-events/server'
import { addAction, flagNumber } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { timestampJson, timestampText } from '../timestamp-option.ts'
import { changeSettings, storeSettings, withStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { addSettings } from '../settings/read-settings.ts'

const defaultRetrySeconds = 30

export function addMaintenance(program: Command, context: CommandContext): void {
  const maintenance = program
    .command('maintenance')
    .description('pause publishing for planned work; reading continues, and nodes keep serving')
  addOn(maintenance, context)
  addOff(maintenance, context)
  addStatus(maintenance, context)
}

function addOn(maintenance: Command, context: CommandContext): void {
  const command = maintenance
    .command('on')
    .description('refuse publications on every node of the store, until `maintenance off`')
    .option(
      '--retry-after <seconds>',
      `how long publishers are told to wait before they try again (default: ${defaultRetrySeconds})`,
    )
  addNote(
    command,
    'Publications get 503 with the code `maintenance` and Retry-After. Reading, tenants and keys work as before. Maintenance ' +
      'survives restarts. The command returns when every node refuses. Publications accepted before that are still committed: ' +
      'a node has finished them when its property_events_waiting_publish_requests is 0.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, async (invocation) => {
    const { output, settings: reader, flags } = invocation
    const retryAfterSeconds =
      flagNumber(invocation, '--retry-after', { from: 1, to: 3_600 }) ?? defaultRetrySeconds
    await withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const before = await storage.maintenance()
      const now: Maintenance = { sinceMs: before?.sinceMs ?? Date.now(), retryAfterSeconds }
      await storage.setMaintenance(now, actor)
      await delay(maintenanceNoticeMs)
      if (output.json) return output.writeJson(maintenanceJson(now))
      return output.write(
        `Maintenance is on: every node refuses publications with 503 and Retry-After: ${retryAfterSeconds}. Reading continues.\n` +
          `To end it: ${commandLine('maintenance off', store)}\n`,
      )
    })
  })
}

function addOff(maintenance: Command, context: CommandContext): void {
  const command = maintenance.command('off').description('accept publications again')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage, actor }) => {
      await storage.setMaintenance(undefined, actor)
      if (output.json) return output.writeJson(maintenanceJson(undefined))
      const seconds = maintenanceNoticeMs / 1_000
      return output.write(
        `Maintenance is off: every node accepts publications again within ${seconds} seconds.\n`,
      )
    }),
  )
}

function addStatus(maintenance: Command, context: CommandContext): void {
  const command = maintenance.command('status').description('show whether maintenance is on')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const found = await storage.maintenance()
      if (output.json) return output.writeJson(maintenanceJson(found))
      return output.write(
        found === undefined
          ? 'Maintenance is off.\n'
          : `Maintenance is on since ${timestampText(found.sinceMs)} UTC, with Retry-After: ${found.retryAfterSeconds}.\n`,
      )
    }),
  )
}

function maintenanceJson(maintenance: Maintenance | undefined) {
  return {
    maintenance: maintenance !== undefined,
    since: timestampJson(maintenance?.sinceMs),
    retryAfterSeconds: maintenance?.retryAfterSeconds ?? null,
  }
}
