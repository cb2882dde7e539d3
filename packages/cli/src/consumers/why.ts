/** Why a site shows what it shows: what became of a property's latest event at each consumer. */
import type { Command } from 'commander'
import { createClient } from '@property-events/client'
import type { PropertyConsumers } from '@property-events/client'
import { silentPublisherSentence } from '@property-events/protocol'
import { addAction, agentRefOf } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { addressFromSettings } from '../service-client.ts'
import { settings } from '../settings/settings.ts'
import { plainText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'

export function addWhy(program: Command, context: CommandContext): void {
  const command = program
    .command('why')
    .description(
      'explain why a site shows a property as it does: who was sent its latest version, and with what result',
    )
    .argument('<agent-ref>', 'reference of the property, a UUID')
  addNote(
    command,
    'A key that publishes sees every consumer of its tenant, a key that reads sees itself, and an operator key every consumer of the ' +
      'tenant that --key-tenant names. Times are UTC. What other nodes have recorded is included within 35 s.',
  )
  addSettings(command, [settings.url, settings.key, settings.keyTenant])
  addAction(command, context, why)
}

async function why({ output, settings: reader }: Invocation, [given = '']: readonly string[]): Promise<void> {
  const agentRef = agentRefOf({ settings: reader }, given)
  const client = createClient(addressFromSettings(reader))
  const seen = await client.delivery(agentRef)
  if (seen === undefined) throw new Refusal(`The feed has no event of the property ${agentRef}.`)
  if (output.json) return output.writeJson(seen)
  await output.write(whyText(seen))
}

function whyText({ event, feed, consumers }: PropertyConsumers): string {
  const at = (text: string) => `${timeText(text)} UTC`
  const category = event.category === null ? '' : ` (${event.category})`
  const latest = `Its latest event is ${event.sequenceNumber}, ${event.eventTypeShortCode}${category}, published ${at(event.publishedAt)}.`
  const published =
    feed.lastPublishedAt === null ? '' : ` The agency last published anything ${at(feed.lastPublishedAt)}.`
  const { silentSince } = feed
  const silence = silentSince === null ? '' : ` ${silentPublisherSentence(silentSince, new Date())}`
  const head = plainText(`${latest}${published}${silence}`)
  if (consumers.length === 0) return `${head} No key can read it.\n`
  const names = consumers.map(({ label, keyId, name, webhook }) => {
    if (webhook !== null) return plainText(`webhook ${webhook.label || name}`)
    const key = label === '' ? keyId : label
    return plainText(name === 'default' ? key : `${key} ${name}`)
  })
  const width = Math.max(...names.map((name) => name.length))
  const lines = consumers.map(
    ({ sentence }, index) => `${(names[index] ?? '').padEnd(width)}  ${plainText(sentence)}`,
  )
  return `${head}\n${lines.join('\n')}\n`
}
