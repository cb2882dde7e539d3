/** Replaces the secret that keys are hashed with, while every key continues to work (docs/decisions/0014). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  everySecret,
  findPeppers,
  loadPeppers,
  pepperFileName,
  pepperFit,
  pepperForNew,
  readPepperUse,
  resealSecrets,
} from '@property-events/server'
import type { LiveNode, Pepper, StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, storeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import type { SettingReader } from '../settings/setting.ts'
import { settings } from '../settings/settings.ts'
import { tableText } from '../terminal-text.ts'

export function addPepper(program: Command, context: CommandContext): void {
  const pepper = program.command('pepper').description('replace the secret that keys are hashed with')
  const status = pepper
    .command('status')
    .description(
      'show which pepper keys are hashed and secrets of webhooks sealed with, and which nodes know it',
    )
  addSettings(status, [...storeSettings, ...pepperSettings])
  addAction(status, context, ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    return withStore(reader, flags, async ({ storage, folder }) => {
      const found = await readStatus(storage, namesOf(folder, given))
      if (output.json) return output.writeJson(found)
      const rows = found.peppers.map(({ pepperId, called, keys, webhookSecrets, isCurrent }) => [
        pepperId,
        called,
        String(keys),
        String(webhookSecrets),
        isCurrent ? 'yes' : '',
      ])
      await output.write(tableText(['pepper', 'which', 'keys in use', 'webhook secrets', 'current'], rows))
      const nodes = found.nodes.map(({ place, knows }) => [place, knows.join(' ')])
      return output.write(`\n${tableText(['node', 'knows'], nodes)}`)
    })
  })
  const finish = pepper.command('finish').description('hash keys with the new pepper from now on')
  addNote(
    finish,
    'Refused while a node that serves does not know the new pepper. Old keys are hashed anew when they are next used; ' +
      'keep the old pepper until `pepper status` shows no key and no secret of a webhook that uses it.',
  )
  addSettings(finish, [...changeSettings, ...pepperSettings])
  addAction(finish, context, ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    return withStore(reader, flags, async ({ storage, folder, actor }) => {
      const peppers = findPeppers({ folder, ...given }) ?? []
      const [current] = peppers
      if (current === undefined) {
        throw new Refusal(
          `There is no pepper in ${folder}. Set PROPERTY_EVENTS_KEY_PEPPER to the new one, as for the nodes.`,
        )
      }
      const outcome = await storage.nodes.finishPepper(current.pepperId, actor)
      if (outcome.kind === 'lacking') throw lackingRefusal(current, outcome.nodes)
      const secrets = await resealSecrets(storage.webhooks, peppers, current)
      const keys = await keysLeft(storage, current.pepperId)
      if (output.json) {
        return output.writeJson({ pepperId: current.pepperId, keysLeft: keys, secretsLeft: secrets })
      }
      return output.write(
        `From now on keys are hashed with the pepper ${current.pepperId}. ` +
          (keys === 0
            ? 'No key needs another one.\n'
            : `${keys} in use still need another one, and are hashed anew when they are next used: keep the old pepper until then.\n`) +
          (secrets === 0
            ? ''
            : `${secrets} secrets of webhooks are sealed with a pepper that is not known here. Run this again with it, or make new secrets.\n`),
      )
    })
  })
}

function lackingRefusal({ pepperId }: Pepper, nodes: readonly LiveNode[]): Refusal {
  const lacking = nodes.map(({ place, silentMs }) => `${place} (${Math.round(silentMs / 1_000)} s ago)`)
  return new Refusal(
    `Nothing was changed: the pepper ${pepperId} is not known to ${lacking.join(', ')}. Start every node with the new pepper, and the old one beside it, first. A node that crashed is forgotten after a minute.`,
  )
}

interface Status {
  readonly peppers: readonly {
    readonly pepperId: string
    readonly called: string
    readonly keys: number
    /** Also those of webhooks that are paused or disabled. */
    readonly webhookSecrets: number
    readonly isCurrent: boolean
  }[]
  readonly nodes: readonly { readonly place: string; readonly knows: readonly string[] }[]
}

/** The names of the peppers where this command runs. */
function namesOf(folder: string, given: GivenPeppers): ReadonlyMap<string, string> {
  const peppers = findPeppers({ folder, ...given }) ?? []
  const present = peppers.some(({ isOld }) => isOld) ? 'the new one' : 'the one given here'
  return new Map(peppers.map(({ pepperId, isOld }) => [pepperId, isOld ? 'the old one' : present]))
}

async function readStatus(storage: StorageEngine, names: ReadonlyMap<string, string>): Promise<Status> {
  const keys = (await storage.keys.keys()).filter(({ revokedMs }) => revokedMs === undefined)
  const current = await storage.nodes.pepperId()
  const secrets = new Map<string, number>()
  for await (const { pepperId } of everySecret(storage.webhooks))
    secrets.set(pepperId, (secrets.get(pepperId) ?? 0) + 1)
  const used = [...keys.map(({ pepperId }) => pepperId), ...secrets.keys()]
  const ids = new Set(current === undefined ? used : [...used, current])
  const nodes = await storage.nodes.live()
  return {
    peppers: [...ids].map((pepperId) => ({
      pepperId,
      called: names.get(pepperId) ?? 'not known here',
      keys: keys.filter((key) => key.pepperId === pepperId).length,
      webhookSecrets: secrets.get(pepperId) ?? 0,
      isCurrent: pepperId === current,
    })),
    nodes: nodes.map(({ place, pepperIds }) => ({ place, knows: pepperIds })),
  }
}

async function keysLeft(storage: StorageEngine, current: string): Promise<number> {
  const keys = await storage.keys.keys()
  return keys.filter(({ revokedMs, pepperId }) => revokedMs === undefined && pepperId !== current).length
}

/** The texts of the variables; `undefined` leaves the pepper to the files of the data folder. */
export interface GivenPeppers {
  readonly given: string | undefined
  readonly old: string | undefined
}

export const pepperSettings = [settings.keyPepper, settings.oldKeyPepper] as const

export function readPeppers(reader: SettingReader): GivenPeppers {
  return { given: reader.value(settings.keyPepper), old: reader.value(settings.oldKeyPepper) }
}

/**
 * The pepper of a new key. A new pepper is made only beside a store in a file that has no keys in use, where the
 * service will find it. Throws a `Refusal`, and makes nothing, where the service has another one.
 */
export async function pepperForNewKey(
  { storage, folder, database }: OpenedStore,
  { given, old }: GivenPeppers,
): Promise<Pepper> {
  const use = await readPepperUse(storage)
  const isMissing = given === undefined && !existsSync(join(folder, pepperFileName))
  if (isMissing && database !== undefined) {
    throw new Refusal(
      `${folder} has no pepper, and no node would know a key created with a new one. Name the data folder of a node with --data, or set PROPERTY_EVENTS_KEY_PEPPER as for the nodes.`,
    )
  }
  if (isMissing && use.inUse.length > 0) {
    throw new Refusal(
      `${folder} has no pepper, and no key of this store would work with a new one. Put the file ${pepperFileName} back from where it was kept, or set PROPERTY_EVENTS_KEY_PEPPER to its text. ${ifLost}`,
    )
  }
  const peppers = loadPeppers({ folder, given, old })
  const pepper = pepperForNew(peppers, use)
  if (pepper === undefined || pepperFit(peppers, use) === 'none') {
    throw new Refusal(
      `No key of this store was created with this pepper, so a service that knows the others would not know a new one. Put the right one back, or name it with --data or PROPERTY_EVENTS_KEY_PEPPER. ${ifLost}`,
    )
  }
  return pepper
}

const ifLost = 'If it is lost for good, revoke every key, then create new ones.'
