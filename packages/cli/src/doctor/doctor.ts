import { openStorage, servedAt, stoppedReaders } from '@property-events/server'
import type { StoppedReader } from '@property-events/server'
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { pepperSettings, readPeppers } from '../keys/pepper.ts'
import { storeFlags } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { metricsPortOf } from '../settings/serve-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText } from '../terminal-text.ts'
import { checkDatabase } from './check-database.ts'
import {
  checkDiskSpace,
  checkFlushSpeed,
  checkNode,
  checkPageSpace,
  checkPorts,
  thisNode,
} from './check-machine.ts'
import { checkEveryEvent, checkStore } from './check-store.ts'
import { warn } from './finding.ts'
import type { Finding } from './finding.ts'

export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('check the store and this machine, and say what to do about problems')
    .option(
      '--deep',
      'also read every event and compare it with its checksum (data folders only; minutes if large)',
    )
  addSettings(command, [
    settings.data,
    settings.database,
    settings.host,
    settings.port,
    settings.metricsHost,
    settings.metricsPort,
    ...pepperSettings,
  ])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const folder = reader.value(settings.data)
    const database = reader.value(settings.database)
    const service = { host: reader.value(settings.host), port: reader.value(settings.port) }
    const metrics = { host: reader.value(settings.metricsHost), port: metricsPortOf(reader, service.port) }
    const pepper = readPeppers(reader)
    const deep = flags['deep'] === true
    if (deep && database !== undefined) {
      reader.fault(
        '--deep reads the events of a data folder. PostgreSQL checks its pages itself: run pg_checksums or pg_amcheck.',
      )
    }
    reader.finish()
    const store = storeFlags(flags, folder)
    const ofStore =
      database === undefined
        ? checkStore(folder, pepper, Date.now(), store)
        : await checkDatabase(database, folder, pepper, Date.now(), store)
    const findings: Finding[] = [
      checkNode(thisNode()),
      ...(await checkPorts(service, metrics, servedAt(folder))),
      database === undefined ? checkDiskSpace(folder) : checkPageSpace(folder),
      // Commits to a database are flushed elsewhere.
      ...(database === undefined ? [checkFlushSpeed(folder)] : []),
      ...ofStore,
      ...(mayBeOpened(ofStore) ? await checkReaders({ folder, database }) : []),
    ]
    if (deep && hasStore(findings)) findings.push(checkEveryEvent(folder, output))
    if (findings.some((finding) => finding.status === 'fail')) context.failed()
    if (output.json) return output.writeJson(findings)
    const width = Math.max(...findings.map((finding) => finding.check.length))
    for (const { check, status, detail, remedy } of findings) {
      await output.write(`${status.padEnd(4)}  ${check.padEnd(width)}  ${plainText(detail)}\n`)
      if (remedy !== undefined) await output.write(`${''.padEnd(width + 6)}  → ${plainText(remedy)}\n`)
    }
  })
}

/** Opening a store brings an older schema up to date, and `doctor` changes nothing. */
function mayBeOpened(ofStore: readonly Finding[]): boolean {
  const isCurrent = ofStore.some(({ check, status }) => check === 'schema' && status === 'ok')
  return isCurrent && ofStore.every(({ status }) => status !== 'fail')
}

/** A finding called `store` always says that the store is missing or unreadable. */
function hasStore(findings: readonly Finding[]): boolean {
  return !findings.some(({ check }) => check === 'store')
}

/** The store is there, whole, and of this program's schema. */
async function checkReaders({ folder, database }: StoreLocation): Promise<readonly Finding[]> {
  const location =
    database === undefined
      ? ({ kind: 'sqlite', folder, writesOn: 'thisThread' } as const)
      : ({ kind: 'postgres', url: database, readConnections: 1 } as const)
  await using storage = await openStorage({ ...location, create: false })
  return readersFinding(await stoppedReaders(storage, Date.now()))
}

interface StoreLocation {
  readonly folder: string
  readonly database: string | undefined
}

const mostNamed = 3

/** None while all read on. */
function readersFinding(stopped: readonly StoppedReader[]): readonly Finding[] {
  if (stopped.length === 0) return []
  const named = stopped.slice(0, mostNamed).map(({ tenantName, keyId, label, after }) => {
    return `"${label === '' ? keyId : label}" of ${tenantName} after number ${after}`
  })
  const rest = stopped.length > mostNamed ? ` and ${stopped.length - mostNamed} more` : ''
  return [
    warn(
      'readers',
      `these keys request only the first page of the list, although there is more, so their readers probably stop at an unknown event type: ${named.join(', ')}${rest}`,
      'If a reader knows only event types 0 and 1, as the public property importer for WordPress does, give it a new key, created with `keys create --reader wordpress-importer`, and revoke the old one. `consumers list` shows how far behind each is.',
    ),
  ]
}
