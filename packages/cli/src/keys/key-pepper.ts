/** The pepper for the keys of a store: the service refuses a key that was made with another pepper than its own. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadPeppers, pepperFileName, pepperFit, pepperForNew, readPepperUse } from '@property-events/server'
import type { Pepper } from '@property-events/server'
import type { OpenedStore } from '../open-store.ts'
import type { SettingReader } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { settings } from '../settings/settings.ts'

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
      `${folder} holds no pepper, and no node would know a key made with a new one. Name the data folder of a node with --data, or set PROPERTY_EVENTS_KEY_PEPPER as for the nodes.`,
    )
  }
  if (isMissing && use.inUse.length > 0) {
    throw new Refusal(
      `${folder} holds no pepper, and no key of this store would work with a new one. Put the file ${pepperFileName} back from where it was kept, or set PROPERTY_EVENTS_KEY_PEPPER to its text. ${ifLost}`,
    )
  }
  const peppers = loadPeppers({ folder, given, old })
  const pepper = pepperForNew(peppers, use)
  if (pepper === undefined || pepperFit(peppers, use) === 'none') {
    throw new Refusal(
      `No key of this store was made with this pepper, so a service that knows the others would not know a new one. Put the right one back, or name it with --data or PROPERTY_EVENTS_KEY_PEPPER. ${ifLost}`,
    )
  }
  return pepper
}

const ifLost = 'If it is lost for good, revoke every key, then make new ones.'
