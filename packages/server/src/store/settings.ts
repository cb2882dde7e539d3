/** Settings that a store records once, and those that a caller wants when opening it (D12, D13). */
import type { EventTypeCatalogue } from '@property-events/protocol'
import { StorageRefusal } from '../sql/storage-errors.ts'
import type { StoreSettings } from './storage.ts'

/** `undefined` accepts the recorded value. A new store without a catalogue is refused; its numbers begin at 1 by default. */
export interface RequestedSettings {
  readonly catalogue?: EventTypeCatalogue | undefined
  readonly startSequence?: number | undefined
}

/** The settings of a new store. */
export type NewSettings = Omit<StoreSettings, 'storeId'>

/** Why a store with `recorded` settings is unsuitable for this caller, if it is. */
export function settingsRefusal(
  recorded: StoreSettings,
  wanted: RequestedSettings,
): StorageRefusal | undefined {
  const { catalogue, startSequence } = wanted
  if (catalogue !== undefined && catalogueText(catalogue) !== catalogueText(recorded.catalogue)) {
    return new StorageRefusal(
      'other_catalogue',
      `This store was created with other event types (${catalogueText(recorded.catalogue)}), and their numbers stand ` +
        'in its events. Start without naming a catalogue to keep them, or with an empty data folder for new ones.',
    )
  }
  if (startSequence !== undefined && startSequence !== recorded.startSequence) {
    return new StorageRefusal(
      'other_start_sequence',
      `This store was created with start sequence ${recorded.startSequence}, and ${startSequence} is asked for now. ` +
        'Leave it out, or name the recorded one: numbers that were shown cannot change.',
    )
  }
  return undefined
}

/** One text per catalogue, in whatever order its codes were written. */
export function catalogueText(catalogue: EventTypeCatalogue): string {
  const sorted = (codes: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(codes).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify({ property: sorted(catalogue.property), contact: sorted(catalogue.contact) })
}
