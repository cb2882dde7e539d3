/** Replaces the secret that keys are hashed with, while every key continues to work (docs/decisions/0014). */
import type { Command } from 'commander'
import { findPeppers } from '@property-events/server'
import type { LiveNode, Pepper, StorageEngine } from '@property-events/server'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { pepperSettings, readPeppers } from './key-pepper.ts'
import type { GivenPeppers } from './key-pepper.ts'
import { changeSettings, storeSettings, withStore } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { tableText } from '../terminal-text.ts'

export function addPepper(program: Command, context: CommandContext): void {
  const pepper = program.command('pepper').description('replace the secret that keys are hashed with')
  const status = pepper
    .command('status')
    .description('show which pepper keys are hashed with, and which nodes know it')
  addSettings(status, [...storeSettings, ...pepperSettings])
  addAction(status, context, ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    return withStore(reader, flags, async ({ storage, folder }) => {
      const found = await readStatus(storage, namesOf(folder, given))
      if (output.json) return output.writeJson(found)
      const rows = found.peppers.map(({ pepperId, called, keys, isCurrent }) => [
        pepperId,
        called,
        String(keys),
        isCurrent ? 'yes' : '',
      ])
      await output.write(tableText(['pepper', 'is', 'keys in use', 'named by `pepper finish`'], rows))
      const nodes = found.nodes.map(({ place, knows }) => [place, knows.join(' ')])
      return output.write(`\n${tableText(['node', 'knows'], nodes)}`)
    })
  })
  const finish = pepper.command('finish').description('hash keys with the new pepper from now on')
  addNote(
    finish,
    'Refused while a node that serves does not know the new pepper. Old keys are hashed anew when they are next used; ' +
      'keep the old pepper until `pepper status` shows no key that was made with it.',
  )
  addSettings(finish, [...changeSettings, ...pepperSettings])
  addAction(finish, context, ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    return withStore(reader, flags, async ({ storage, folder, actor }) => {
      const current = findPeppers({ folder, ...given })?.[0]
      if (current === undefined) {
        throw new Refusal(
          `There is no pepper in ${folder}. Set PROPERTY_EVENTS_KEY_PEPPER to the new one, as for the nodes.`,
        )
      }
      const outcome = await storage.nodes.finishPepper(current.pepperId, actor)
      if (outcome.kind === 'lacking') throw lackingRefusal(current, outcome.nodes)
      const keys = await keysLeft(storage, current.pepperId)
      if (output.json) return output.writeJson({ pepperId: current.pepperId, keysLeft: keys })
      return output.write(
        `From now on keys are hashed with the pepper ${current.pepperId}. ` +
          (keys === 0
            ? 'No key depends on another one.\n'
            : `${keys} in use were made with another one, and are hashed anew when they are next used: keep the old pepper until then.\n`),
      )
    })
  })
}

function lackingRefusal({ pepperId }: Pepper, nodes: readonly LiveNode[]): Refusal {
  const places = nodes.map(({ place, silentMs }) => `${place} (${Math.round(silentMs / 1_000)} s ago)`)
  return new Refusal(
    `Nothing was changed: the pepper ${pepperId} is not known to ${places.join(', ')}. Start every node with the new pepper, and the old one beside it, first. A node that crashed is forgotten after a minute.`,
  )
}

interface Status {
  readonly peppers: readonly {
    readonly pepperId: string
    readonly called: string
    readonly keys: number
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
  const ids = new Set([...keys.map(({ pepperId }) => pepperId), ...(current === undefined ? [] : [current])])
  const nodes = await storage.nodes.live()
  return {
    peppers: [...ids].map((pepperId) => ({
      pepperId,
      called: names.get(pepperId) ?? 'not known here',
      keys: keys.filter((key) => key.pepperId === pepperId).length,
      isCurrent: pepperId === current,
    })),
    nodes: nodes.map(({ place, pepperIds }) => ({ place, knows: pepperIds })),
  }
}

async function keysLeft(storage: StorageEngine, current: string): Promise<number> {
  const keys = await storage.keys.keys()
  return keys.filter(({ revokedMs, pepperId }) => revokedMs === undefined && pepperId !== current).length
}
