/** The record of who changed what: for people, for storage elsewhere, and its deletion after years. */
import { setTimeout as delay } from 'node:timers/promises'
import { auditDetailWords, parseUuid } from '@property-events/protocol'
import { isNamedActor, isTenantName, tenantNameWords } from '@property-events/server'
import type { AuditQuery, AuditRow } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { durationText } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import type { SettingReader } from '../settings/setting.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { timestampJson, timestampText, pastTimeHelp, readPastTimestamp } from '../timestamp-option.ts'

export function addAudit(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('show who changed what: keys, tenants, epochs, settings')
  addList(audit, context)
  addExport(audit, context)
  addPrune(audit, context)
  addNames(audit, context)
}

function addList(audit: Command, context: CommandContext): void {
  const command = audit
    .command('list')
    .description('show the latest changes, newest first')
    .option('--tenant <tenant>', 'only changes to one tenant, by id or name')
    .option('--action <action>', 'only changes of one kind, such as key.revoked')
    .option('--target <id>', 'only changes to the key, tenant or other thing with this id')
    .option('--from <time>', pastTimeHelp)
    .option('--to <time>', 'up to and including this time, in the same forms')
    .option('--limit <number>', 'show at most this many', '100')
  addSettings(command, storeSettings)
  addAction(command, context, (invocation) => {
    const { output, settings: reader, flags } = invocation
    const limit = flagNumber(invocation, '--limit', { from: 1, to: 100_000 }) ?? 1
    const times = { fromMs: readTime(flags, 'from', reader), toMs: readTime(flags, 'to', reader) }
    return withStore(reader, flags, async (store) => {
      const query = { ...times, ...(await conditionsOf(store, flags)), first: 'newest', limit } as const
      const rows = await store.storage.audit.read(query)
      if (rows === 'unknownRow') return
      const names = await store.storage.names.of([...new Set(rows.map(({ actor }) => actor))])
      if (output.json) {
        return output.writeJson(
          rows.map((row) => {
            const actorName = names.get(row.actor)
            return { ...rowJson(row), ...(actorName === undefined ? {} : { actorName }) }
          }),
        )
      }
      const cells = rows.map((row) => [
        timestampText(row.atMs),
        actorText(row.actor, names),
        row.action,
        row.tenant ?? '',
        row.target === row.tenant ? '' : (row.target ?? ''),
        auditDetailWords(row.detail, detailText),
      ])
      return output.write(
        tableText(['at (UTC)', 'actor', 'action', 'tenant', 'target', ''], cells, 'No changes that match.'),
      )
    })
  })
}

/** Times of details are UTC, as all of the table. */
const detailText = { time: timestampText, span: durationText, text: plainText } as const

function actorText(actor: string, names: ReadonlyMap<string, string>): string {
  const name = names.get(actor)
  return name === undefined ? actor : `${plainText(name)} (${actor})`
}

/** How often new rows are looked for. */
const followEveryMs = 1_000
const rowsPerPiece = 500

function addExport(audit: Command, context: CommandContext): void {
  const command = audit
    .command('export')
    .description('write every row as a line of JSON, in commit order')
    .option('--after <id>', 'continue after the row with this id, the last one of an earlier export')
    .option('--tenant <tenant>', 'only rows of one tenant, by id or name')
    .option('--follow', 'keep writing new rows as they are added; stop with Ctrl+C')
  addNote(
    command,
    'To keep the rows where nobody can change them, pipe the lines into write-once storage. A new row never appears ' +
      'before one that was already written, so after an interruption --after continues without a gap.',
  )
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) => {
    const written = flagText(flags, 'after')
    const after = written === undefined ? undefined : parseUuid(written)
    if (written !== undefined && after === undefined) reader.fault('--after must be the id of a row.')
    const signal = stopSignal()
    return withStore(reader, flags, async (store) => {
      const conditions = await conditionsOf(store, flags)
      await exportRows(store, { ...conditions, after }, flags['follow'] === true, signal, (text) =>
        output.write(text),
      )
    })
  })
}

async function exportRows(
  { storage }: OpenedStore,
  query: Pick<AuditQuery, 'after' | 'tenant'>,
  follows: boolean,
  signal: AbortSignal,
  write: (text: string) => Promise<void>,
): Promise<void> {
  for (let { after } = query; !signal.aborted;) {
    const rows = await storage.audit.read({ ...query, after, first: 'oldest', limit: rowsPerPiece })
    if (rows === 'unknownRow') {
      throw new Refusal(
        `This store has no row ${after}: the row belongs to another store, or \`audit prune\` removed it. ` +
          'Leave out --after to export every row.',
      )
    }
    if (rows.length > 0) await write(rows.map((row) => `${JSON.stringify(rowJson(row))}\n`).join(''))
    after = rows.at(-1)?.id ?? after
    if (rows.length === rowsPerPiece) continue
    if (!follows) return
    await delay(followEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

const defaultKeep = '6y'

function addPrune(audit: Command, context: CommandContext): void {
  const command = audit
    .command('prune')
    .description('remove rows that have been kept long enough')
    .option('--keep <years>', 'how long to keep rows: at least 1y', defaultKeep)
  addNote(
    command,
    'On PostgreSQL only the role that owns the tables may do this: name its address with --database. The audit ' +
      'records the removal.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) => {
    const keep = flagText(flags, 'keep') ?? defaultKeep
    const [, years] = /^([1-9][0-9]?)y$/.exec(keep) ?? []
    if (years === undefined) {
      reader.fault(`--keep is "${plainText(keep)}", but must be a number of years from 1y to 99y.`)
    }
    const before = new Date()
    before.setUTCFullYear(before.getUTCFullYear() - Number(years))
    return withStore(reader, flags, async ({ storage, actor }) => {
      const removed = await storage.audit.prune(before.getTime(), actor)
      if (output.json) return output.writeJson({ before: before.toISOString(), removed })
      return output.write(`Removed ${removed} rows from before ${timestampText(before.getTime())} UTC.\n`)
    })
  })
}

async function conditionsOf(
  store: OpenedStore,
  flags: Invocation['flags'],
): Promise<Pick<AuditQuery, 'tenant' | 'action' | 'target'>> {
  const name = flagText(flags, 'tenant')
  return {
    tenant: name === undefined ? undefined : (await findTenant(store, name)).tenantId,
    action: flagText(flags, 'action'),
    target: flagText(flags, 'target'),
  }
}

function readTime(
  flags: Invocation['flags'],
  bound: 'from' | 'to',
  reader: SettingReader,
): number | undefined {
  const written = flagText(flags, bound)
  if (written === undefined) return undefined
  const ms = readPastTimestamp(bound, written, Date.now())
  if (ms === undefined) reader.fault(`--${bound} is "${plainText(written)}", but must be ${pastTimeHelp}.`)
  return ms
}

/** Details stay as they are stored, except times. */
function rowJson({ id, atMs, actor, action, tenant, target, detail }: AuditRow) {
  return { id, at: timestampJson(atMs), actor, action, tenant, target, detail }
}

const actorWords = 'an actor as `audit list` shows it: key: or cli: and its id'

function addNames(audit: Command, context: CommandContext): void {
  addName(audit, context)
  addForget(audit, context)
}

function addName(audit: Command, context: CommandContext): void {
  const command = audit
    .command('name')
    .description('give an actor a name, which `audit list` then shows')
    .argument('<actor>', actorWords)
    .argument('<name>', 'the name to show')
  addNote(command, 'The name is kept apart from the rows, which never change; `audit forget` erases it.')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [actor = '', name = '']) => {
    checkActor(reader, actor)
    if (!isTenantName(name)) reader.fault(`The name has ${tenantNameWords}.`)
    return withStore(reader, flags, async ({ storage, actor: by }) => {
      await storage.names.set({ actor, name }, by)
      if (output.json) return output.writeJson({ actor, name })
      return output.write(`${actor} is shown as "${name}".\n`)
    })
  })
}

function addForget(audit: Command, context: CommandContext): void {
  const command = audit
    .command('forget')
    .description('erase the name of an actor; its actions stay on record')
    .argument('<actor>', actorWords)
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [actor = '']) => {
    checkActor(reader, actor)
    return withStore(reader, flags, async ({ storage, actor: by }) => {
      if ((await storage.names.erase(actor, by)) === 'unknown') throw new Refusal(`${actor} has no name.`)
      if (output.json) return output.writeJson({ actor, name: null })
      return output.write(`Erased the name of ${actor}. Earlier backups still contain it.\n`)
    })
  })
}

function checkActor(reader: SettingReader, actor: string): void {
  if (!isNamedActor(actor)) reader.fault(`"${plainText(actor)}" is not ${actorWords}.`)
}
