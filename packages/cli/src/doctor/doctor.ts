import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { checkDiskSpace, checkFlushSpeed, checkPageSpace, checkPorts, isServed } from './check-machine.ts'
import { checkNode, thisNode } from './check-node.ts'
import { checkDatabase } from './check-database.ts'
import { checkReaders } from './check-readers.ts'
import { checkStore } from './check-store.ts'
import { checkEveryEvent } from './check-events.ts'
import type { Finding } from './finding.ts'
import { pepperSettings, readPeppers } from '../keys/key-pepper.ts'
import { storeFlags } from '../open-store.ts'
import { metricsPortOf } from '../settings/serve-settings.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText } from '../terminal-text.ts'

export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('find out what is wrong, and what to do about it')
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
      ...(await checkPorts(service, metrics, isServed(folder))),
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
