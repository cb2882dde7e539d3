/** How long payloads are kept: tenants' rules, and carrying them out at once (D17). */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { countFeed, retainedFeeds, retentionRules, thinFeed } from '@property-events/server'
import type { RetainedFeed, RetentionRule, StorageEngine } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { daysText, readDays, readRetention } from '../settings/retention-settings.ts'
import { addNote } from '../help/help-text.ts'
import { optionNameOf } from '../settings/setting.ts'
import { settings } from '../settings/settings.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText, tableText } from '../terminal-text.ts'

const ruleSettings = [settings.retainContacts, settings.retainProperties, settings.expireContacts] as const

/** Those that `retention run` carries out; contacts expire in the service. */
const thinningSettings = [settings.retainContacts, settings.retainProperties] as const

/** While another node is working on it. */
const busyWaitMs = 500

export function addRetention(program: Command, context: CommandContext): void {
  const retention = program
    .command('retention')
    .description('set how long payloads of superseded events are kept; works while the service runs')
  addSet(retention, context)
  addList(retention, context)
  addRun(retention, context)
}

function addSet(retention: Command, context: CommandContext): void {
  const command = retention
    .command('set')
    .description('give a tenant its own rules, instead of those that `serve` was started with')
    .argument('<tenant>', 'id or name')
  for (const { name, description } of ruleSettings) {
    command.option(`--${name} <days>`, `${description}; such as 400d, or off, or default`)
  }
  addSettings(command, changeSettings)
  addAction(command, context, async (invocation, [idOrName = '']) => {
    const { output, settings: reader, flags } = invocation
    const wanted = readWanted(invocation)
    await withStore(reader, flags, async (store) => {
      const tenant = await findTenant(store, idOrName)
      for (const { rule, days } of wanted) {
        await store.storage.retention.setRule(tenant.tenantId, rule, days, store.actor)
      }
      const own = await store.storage.retention.rules(tenant.tenantId)
      if (output.json) return output.writeJson({ tenantId: tenant.tenantId, ...rulesJson(own) })
      const words = retentionRules.map((rule) => {
        return `${rule} ${ruleText(own.find((one) => one.rule === rule)?.days)}`
      })
      return output.write(`Tenant ${tenant.tenantId} "${plainText(tenant.name)}": ${words.join(', ')}.\n`)
    })
  })
}

interface WantedRule {
  readonly rule: RetentionRule
  /** `undefined`: the service's rule applies again. */
  readonly days: number | undefined
}

function readWanted({ flags, settings: reader }: Invocation): readonly WantedRule[] {
  const wanted = ruleSettings.flatMap((setting): WantedRule[] => {
    const written = flagText(flags, optionNameOf(setting))
    const rule = retentionRules.find((name) => name === setting.name)
    if (written === undefined || rule === undefined) return []
    if (written === 'default') return [{ rule, days: undefined }]
    const days = readDays(written)
    if (days === undefined) {
      const given = plainText(written.slice(0, 100))
      reader.fault(`--${rule} is "${given}", but must be ${setting.expected}, or default.`)
    }
    return [{ rule, days }]
  })
  if (wanted.length === 0) {
    reader.fault(
      `Specify what to set: one or more of ${ruleSettings.map(({ name }) => `--${name}`).join(', ')}.`,
    )
  }
  return wanted
}

function addList(retention: Command, context: CommandContext): void {
  const command = retention
    .command('list')
    .description('list the tenants that have their own rules; the others have those of `serve`')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const byTenant = Map.groupBy(await storage.retention.rules(), ({ tenantId }) => tenantId)
      const names = new Map((await storage.tenants.tenants()).map(({ tenantId, name }) => [tenantId, name]))
      if (output.json) {
        return output.writeJson(
          [...byTenant].map(([tenantId, own]) => {
            return { tenantId, name: names.get(tenantId) ?? '', ...rulesJson(own) }
          }),
        )
      }
      const rows = [...byTenant].map(([tenantId, own]) => [
        tenantId,
        names.get(tenantId) ?? '',
        ...ruleSettings.map(({ name }) => ruleText(own.find(({ rule }) => rule === name)?.days)),
      ])
      if (rows.length === 0) return output.write('No tenant has rules of its own.\n')
      return output.write(tableText(['id', 'name', ...ruleSettings.map(({ name }) => name)], rows))
    }),
  )
}

function ruleText(days: number | undefined): string {
  return days === undefined ? 'default' : daysText(days)
}

function rulesJson(own: readonly { readonly rule: RetentionRule; readonly days: number }[]) {
  const daysOf = (name: RetentionRule) => own.find(({ rule }) => rule === name)?.days ?? null
  return {
    retainContactsDays: daysOf('retain-contacts'),
    retainPropertiesDays: daysOf('retain-properties'),
    expireContactsDays: daysOf('expire-contacts'),
  }
}

function addRun(retention: Command, context: CommandContext): void {
  const command = retention
    .command('run')
    .description('apply the retention rules now, as the service does once a day')
    .option('--dry-run', 'count the events that would lose their payloads, without changing anything')
  addNote(
    command,
    'Pass the same rules as `serve`; rules set for single tenants are in the store. Ids, numbers and times stay, and so does the latest event of each property and contact. Only a backup can bring the payloads back.',
  )
  addSettings(command, [...changeSettings, ...thinningSettings])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const defaults = readRetention(reader)
    const [nodeId, signal] = [randomUUID(), stopSignal()]
    await withStore(reader, flags, async ({ storage }) => {
      const names = new Map((await storage.tenants.tenants()).map(({ tenantId, name }) => [tenantId, name]))
      const progress = createProgress(output, 'events')
      const rows: { tenantId: string; feed: string; days: number; events: number }[] = []
      for (const feed of await retainedFeeds(storage, defaults, Date.now())) {
        const isDry = flags['dryRun'] === true
        const before = rows.reduce((sum, row) => sum + row.events, 0)
        const onProgress = (events: number) => progress.update(before + events, undefined)
        const events = isDry
          ? await countFeed(storage.retention, feed)
          : await thinWholeFeed(storage, feed, nodeId, signal, onProgress)
        rows.push({ ...feed.span.key, days: feed.days, events })
      }
      progress.end()
      await storage.retention.endTurn(nodeId)
      if (output.json) return output.writeJson(rows)
      if (rows.length === 0) return output.write('No rule applies to any tenant: everything is kept.\n')
      const cells = rows.map(({ tenantId, feed, days, events }) => {
        return [tenantId, names.get(tenantId) ?? '', feed, daysText(days), String(events)]
      })
      const title = flags['dryRun'] === true ? 'would lose payload' : 'lost payload'
      return output.write(tableText(['tenant', 'name', 'feed', 'kept', title], cells))
    })
  })
}

/** Everything in a feed, after another node that is working on it. A signal ends it between two steps. */
async function thinWholeFeed(
  { retention }: StorageEngine,
  { span }: RetainedFeed,
  nodeId: string,
  signal: AbortSignal,
  onThinned: (events: number) => void,
): Promise<number> {
  for (let events = 0; ;) {
    const before = events
    const onProgress = (count: number) => onThinned(before + count)
    const thinned = await thinFeed({
      retention,
      span,
      nodeId,
      signal,
      pausePerStep: 1,
      onThinned: onProgress,
    })
    events += thinned.events
    if (thinned.end === 'stopped') {
      throw new Refusal(
        'Stopped. A service with these rules continues by itself; or run the same command again.',
      )
    }
    if (thinned.end !== 'busy') return events
    await delay(busyWaitMs, undefined, { signal }).catch(() => undefined)
  }
}
