import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { categories, isUuid, parseUuid } from '@property-events/protocol'
import type { Category } from '@property-events/protocol'
import { uuidV5 } from '@property-events/server/plain'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import type { SettingReader } from '../settings/setting.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

/** What distinguishes one property of a tenant from all others, in the publisher's words. */
interface OwnReference {
  /** Lower-case UUID. */
  readonly tenantId: string
  /** Empty where references are unique in the whole agency. */
  readonly branch: string
  /** A home both for sale and to let is two subjects. */
  readonly channel: Category
  readonly reference: string
}

/**
 * The `agent_ref` of a property whose own reference is not a UUID: the UUID version 5 (RFC 9562) whose namespace is the
 * tenant's id and whose name is branch, channel and reference with a line feed between them, in UTF-8. The same parts
 * give the same UUID for ever, in any program. No part may contain a line feed.
 */
export function subjectReference({ tenantId, branch, channel, reference }: OwnReference): string {
  return uuidV5(tenantId, [branch, channel, reference].join('\n'))
}

/** Longer than any system's references; a whole file on one line is not a reference. */
const maxLength = 200

export function addReference(program: Command, context: CommandContext): void {
  const command = program
    .command('reference')
    .description('create the agent_ref of properties whose references are not UUIDs')
    .argument('<reference...>', 'your own references; - to read them from standard input, one a line')
    .requiredOption('--tenant <id>', 'id of the tenant, a UUID')
    .requiredOption('--channel <channel>', categories.join(' or '))
    .option('--branch <branch>', 'branch of the references, if they are unique only within a branch', '')
  addNote(
    command,
    "The same words always give the same UUID: a UUIDv5 of the tenant's id, and of branch, channel and reference " +
      'with line feeds between them. Publish it as agent_ref and keep your own reference in service_reference.',
  )
  addAction(command, context, async ({ output, settings: reader, flags }, operands) => {
    const parts = readParts(flags, reader)
    const fromInput = operands.length === 1 && operands[0] === '-'
    for await (const given of fromInput ? lines() : operands) {
      const reference = readReference(given)
      const agentRef = subjectReference({ ...parts, reference })
      await (output.json ? output.writeJson({ reference, agentRef }) : output.write(`${agentRef}\n`))
    }
  })
}

function readParts(
  flags: Readonly<Record<string, unknown>>,
  reader: SettingReader,
): Omit<OwnReference, 'reference'> {
  const tenantId = parseUuid(flagText(flags, 'tenant') ?? '')
  const channel = categories.find((one) => one === flags['channel'])
  const branch = (flagText(flags, 'branch') ?? '').trim()
  if (tenantId === undefined) reader.fault('--tenant must be the id of a tenant, a UUID.')
  if (channel === undefined) reader.fault(`--channel must be ${categories.join(' or ')}.`)
  if (!isPlain(branch)) reader.fault(`--branch has at most ${maxLength} characters and no line feeds.`)
  reader.finish()
  return { tenantId: tenantId ?? '', channel: channel ?? 'sales', branch }
}

function readReference(given: string): string {
  const reference = given.trim()
  const shown = plainText(given.slice(0, 100))
  if (reference === '' || !isPlain(reference))
    throw new Refusal(
      `"${shown}" is not a reference, which has 1 to ${maxLength} characters and no line feeds.`,
    )
  if (isUuid(reference)) throw new Refusal(`"${shown}" is a UUID already. Publish it as agent_ref as it is.`)
  return reference
}

function isPlain(text: string): boolean {
  return text.length <= maxLength && plainText(text) === text
}

/** Non-empty lines of standard input. */
async function* lines(): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() !== '') yield line
  }
}
