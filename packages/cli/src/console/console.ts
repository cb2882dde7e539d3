/** Signs a person in to the console: prints a link that works once, for a given key or for a new one for today. */
import { adminScopes } from '@property-events/protocol'
import {
  createKeyVerifier,
  issueKey,
  linkLengthMs,
  loadPeppers,
  makeLoginLink,
} from '@property-events/server'
import type { StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from '../keys/pepper.ts'
import type { GivenPeppers } from '../keys/pepper.ts'
import { changeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { timestampJson } from '../timestamp-option.ts'

/** As long as a session. */
const keyLengthMs = 12 * 3_600_000

const linkMinutes = linkLengthMs / 60_000

export function addConsole(program: Command, context: CommandContext): void {
  const command = program
    .command('console')
    .description('print a link that signs you in to the console, once; works while the service runs')
  addNote(
    command,
    `The link works for ${linkMinutes} minutes, in one browser. Without --key or its variable it signs in with a new operator key, which has every scope and expires in 12 hours. ` +
      'It points to a running service of the store that has its console on; --url sets another address.',
  )
  addSettings(command, [...changeSettings, ...pepperSettings, settings.key, settings.url])
  addAction(command, context, printLink)
}

async function printLink({ output, settings: reader, flags }: Invocation): Promise<void> {
  const given = readPeppers(reader)
  const text = reader.value(settings.key)
  const keySource = reader.source(settings.key) ?? ''
  const url = reader.value(settings.url)
  const isUrlGiven = reader.source(settings.url) !== undefined
  await withStore(reader, flags, async (store) => {
    const keyId =
      text === undefined ? await newKey(store, given) : await existingKey(store, given, text, keySource)
    const running = isUrlGiven ? url : await runningAt(store)
    if (running === undefined) {
      output.say(
        `No running service of this store has its console on, so the link points to ${url}. Start one: ${commandLine('serve --console', store.flags)}`,
      )
    }
    const link = await consoleLink(store.storage, keyId, running ?? url)
    if (output.json)
      return output.writeJson({ url: link.url, expiresAt: timestampJson(link.expiresMs), keyId })
    if (text !== undefined) output.say(`It signs in with the key from ${keySource}, ${keyId}.`)
    output.say(`Open this in a browser, within ${linkMinutes} minutes. It works once:`)
    return output.write(`${link.url}\n`)
  })
}

/** The address of the console, from a node of the store that has announced it. */
async function runningAt({ storage }: OpenedStore): Promise<string | undefined> {
  const nodes = await storage.nodes.live()
  return nodes.map(({ consoleUrl }) => consoleUrl).find((url) => url !== undefined)
}

async function newKey(store: OpenedStore, given: GivenPeppers): Promise<string> {
  const nowMs = Date.now()
  const issued = await issueKey(store.storage.keys, await pepperForNewKey(store, given), {
    label: 'console',
    operator: true,
    adminScopes,
    grants: [],
    expiresMs: nowMs + keyLengthMs,
    nowMs,
    actor: store.actor,
  })
  if (issued.kind !== 'issued') throw new Error('an operator key names no tenant')
  return issued.record.keyId
}

async function existingKey(
  store: OpenedStore,
  given: GivenPeppers,
  text: string,
  source: string,
): Promise<string> {
  // As for a new key: says so if the pepper is missing or a different one.
  await pepperForNewKey(store, given)
  const peppers = loadPeppers({ folder: store.folder, ...given })
  const { keys } = store.storage
  const verifier = createKeyVerifier({ keys, peppers, clock: Date.now, testKeys: true })
  try {
    const verdict = await verifier.verify(text)
    if (verdict.kind === 'valid') return verdict.key.keyId
    const why =
      verdict.kind === 'unknown'
        ? 'is not a key of this store'
        : 'has expired or was revoked, or its tenant is suspended'
    throw new Refusal(
      `The key from ${source} ${why}. \`${commandLine('keys list', store.flags)}\` lists the keys; without --key the command creates an operator key.`,
    )
  } finally {
    await verifier.close()
  }
}

export interface ConsoleLink {
  readonly url: string
  /** Milliseconds since 1970. */
  readonly expiresMs: number
}

/** `serviceUrl`: the address that people use, with the base path. The secret follows the `#`, where no log or proxy sees it. */
export async function consoleLink(
  storage: Pick<StorageEngine, 'consoleSessions'>,
  keyId: string,
  serviceUrl: string,
): Promise<ConsoleLink> {
  const nowMs = Date.now()
  const secret = await makeLoginLink(storage.consoleSessions, keyId, nowMs)
  return { url: `${serviceUrl}/console/#login=${secret}`, expiresMs: nowMs + linkLengthMs }
}
