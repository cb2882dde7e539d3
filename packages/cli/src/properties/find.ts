/** `properties find`: a property of a tenant by a part of its address, postcode or reference, as `GET /v1/admin/tenants/{tenantId}/properties` finds it. */
import type { Command } from 'commander'
import { parseUuid } from '@property-events/protocol'
import { findProperties, findProperty, searchText } from '@property-events/server'
import type { FoundProperty, StorageEngine } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { findTenant, storeSettings, withStore } from '../open-store.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { plainText, tableText } from '../terminal-text.ts'

/** More than a person reads; a longer text finds fewer. */
const mostFound = 200

interface Found {
  readonly found: readonly FoundProperty[]
  readonly searched: number
  /** There may be more than those found. */
  readonly more: boolean
}

export function addFind(properties: Command, context: CommandContext): void {
  const command = properties
    .command('find')
    .description('find properties by a part of an address, postcode or reference')
    .argument('<text>', 'what to look for; or the agent_ref of a property, a UUID')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant whose properties are searched')
  addNote(
    command,
    `Reads the latest payload of every property of the tenant, the newest change first, about ten thousand a second, until ${mostFound} are found. ` +
      'Case, accents, blanks and punctuation make no difference. Removed properties are found, too.',
  )
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [given = '']) => {
    const text = searchText(given)
    if (text === '') reader.fault('The text to look for must contain a letter or a digit.')
    return withStore(reader, flags, async (store) => {
      const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
      const progress = createProgress(output, 'properties searched')
      const result = await find(store.storage, tenantId, given, (searched) => {
        progress.update(searched, undefined)
      })
      progress.end()
      if (output.json) return output.writeJson(result)
      return output.write(resultText(result))
    })
  })
}

async function find(
  { events }: StorageEngine,
  tenantId: string,
  given: string,
  onSearched: (searched: number) => void,
): Promise<Found> {
  const key = { tenantId, feed: 'property' } as const
  const agentRef = parseUuid(given.trim())
  if (agentRef !== undefined) {
    const property = await findProperty(events, key, agentRef)
    return { found: property === undefined ? [] : [property], searched: 1, more: false }
  }
  const found: FoundProperty[] = []
  let searched = 0
  for (let before: number | undefined; ;) {
    const asked = { key, text: searchText(given), before, limit: mostFound - found.length }
    const step = await findProperties(events, asked, () => performance.now())
    found.push(...step.found)
    searched += step.searched
    onSearched(searched)
    before = step.next
    if (before === undefined || found.length >= mostFound) {
      return { found, searched, more: before !== undefined }
    }
  }
}

function resultText({ found, searched, more }: Found): string {
  if (found.length === 0) return `None of ${searched} properties matches.\n`
  const rows = found.map(
    ({ agentRef, address, postcode, reference, serviceReference, live, createdDate }) => [
      agentRef,
      plainText(address ?? ''),
      plainText(postcode ?? ''),
      plainText(reference ?? serviceReference ?? ''),
      live ? 'live' : 'removed',
      createdDate.slice(0, 19).replace('T', ' '),
    ],
  )
  const table = tableText(['property', 'address', 'postcode', 'reference', '', 'changed (UTC)'], rows)
  return more ? `${table}There may be more: look for a longer text.\n` : table
}
