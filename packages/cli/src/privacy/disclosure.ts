/** Which contacts a key was sent: for a notice after a breach (D28). */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { parseKeyText } from '@property-events/protocol'
import { disclosedContacts, unknownTimes } from '@property-events/server'
import type { DisclosedContact, DisclosuresQuery, KeyRecord, TimeSpan } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { timestampJson, timestampText, pastTimeHelp, readPastTimestamp } from '../timestamp-option.ts'
import { changeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { writeWhole } from '@property-events/server/plain'

const help = `
Writes a file for each tenant, DIR/TENANT.json: the references of the contacts, each with the hours (UTC) in which its events were
first and last sent. "sent" is recorded when an answer is handed to the connection, so a reader that disconnected counts; "possibly"
means that only a part of that hour was asked for. Nodes record every half minute what they have sent. If a node has not yet done
so, or crashed before it could, unknownTimes says from when to when: any contact that the key could read may have been sent then.
Run the command again a minute later to include what was still to be recorded.`

export function addExposure(program: Command, context: CommandContext): void {
  const command = program
    .command('exposure')
    .description('list the contacts that a key was sent, in one file per tenant')
    .requiredOption('--key <id>', 'id of the key, or the key itself')
    .requiredOption('--from <time>', pastTimeHelp)
    .option('--to <time>', 'up to and including this time, in the same forms (default: now)')
    .option('--out <folder>', 'folder for the files; created if missing', 'exposure')
  addNote(command, help)
  addSettings(command, changeSettings)
  addAction(command, context, writeExposure)
}

interface TenantSummary {
  readonly tenantId: string
  readonly file: string
  readonly contacts: number
}

async function writeExposure({ output, settings: reader, flags }: Invocation): Promise<void> {
  const nowMs = Date.now()
  const fromMs = readPastTimestamp('from', flagText(flags, 'from') ?? '', nowMs)
  const to = flagText(flags, 'to')
  const toMs = to === undefined ? nowMs : readPastTimestamp('to', to, nowMs)
  const [wrong, given] = fromMs === undefined ? ['from', flagText(flags, 'from')] : ['to', to]
  if (fromMs === undefined || toMs === undefined)
    reader.fault(`--${wrong} is "${plainText(given ?? '')}", but must be ${pastTimeHelp}.`)
  else if (toMs <= fromMs) reader.fault('--to must be later than --from.')
  const folder = resolve(flagText(flags, 'out') ?? '')
  const written = flagText(flags, 'key') ?? ''
  await withStore(reader, flags, async (store) => {
    const key = await findKey(store, parseKeyText(written)?.keyId ?? written)
    const query = { keyId: key.keyId, fromMs: fromMs ?? 0, toMs: toMs ?? 0, nowMs }
    const detail = { fromMs: query.fromMs, toMs: query.toMs }
    const { audit } = store.storage
    await audit.note({ action: 'exposure.listed', tenant: null, target: key.keyId, detail }, store.actor)
    // Read before the contacts: what is added meanwhile is in the files and still reported as unknown.
    const unknown = await unknownTimes(store.storage, query)
    const tenants = await writeFiles(store, folder, key, query, unknown)
    if (output.json) {
      return output.writeJson({
        keyId: key.keyId,
        ...timesJson(query),
        tenants,
        unknownTimes: unknown.map(spanJson),
      })
    }
    const rows = tenants.map(({ tenantId, contacts, file }) => [tenantId, String(contacts), file])
    await output.write(
      tableText(['tenant', 'contacts', 'file'], rows, 'The key was sent no contacts in this time.'),
    )
    for (const span of unknown) {
      await output.write(
        `Between ${timestampText(span.fromMs)} and ${timestampText(span.toMs)} UTC a node has not reported what it sent: any contact is possible.\n`,
      )
    }
  })
}

/** The key may be given as a whole: only its id is shown. */
async function findKey({ storage, flags }: OpenedStore, keyId: string): Promise<KeyRecord> {
  const found = await storage.keys.findKey(keyId)
  if (found !== undefined) return found.record
  const shown = keyId.length > 12 ? 'with this id' : `"${plainText(keyId)}"`
  throw new Refusal(`There is no key ${shown}. \`${commandLine('keys list', flags)}\` lists the keys.`)
}

/** For the tenants whose contacts the key was sent, and for those whose contacts it can read. */
async function writeFiles(
  { storage }: OpenedStore,
  folder: string,
  key: KeyRecord,
  query: DisclosuresQuery,
  unknown: readonly TimeSpan[],
): Promise<readonly TenantSummary[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const tenants: TenantSummary[] = []
  const write = async (tenantId: string, contacts: readonly DisclosedContact[]): Promise<void> => {
    const file = join(folder, `${tenantId}.json`)
    const head = { keyId: key.keyId, tenantId, ...timesJson(query), unknownTimes: unknown.map(spanJson) }
    await writeWhole(file, [
      `${JSON.stringify({ ...head, contacts: contacts.map(contactJson) }, undefined, 2)}\n`,
    ])
    tenants.push({ tenantId, file, contacts: contacts.length })
  }
  for await (const { tenantId, contacts } of disclosedContacts(storage, query))
    await write(tenantId, contacts)
  const written = new Set(tenants.map(({ tenantId }) => tenantId))
  for (const { tenantId, scopes } of key.grants) {
    if (scopes.includes('contact:read') && !written.has(tenantId)) await write(tenantId, [])
  }
  return tenants
}

function timesJson({ fromMs, toMs }: TimeSpan) {
  return { from: timestampJson(fromMs), to: timestampJson(toMs) }
}

function spanJson(span: TimeSpan) {
  return timesJson(span)
}

function contactJson({ contactRef, firstMs, lastMs, certainty }: DisclosedContact) {
  return { contactRef, certainty, first: timestampJson(firstMs), last: timestampJson(lastMs) }
}
