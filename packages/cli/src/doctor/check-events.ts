/** `doctor --deep` on a data folder: compares every event with its checksum. */
import { checkEvents } from '@property-events/server'
import type { EventsCheck } from '@property-events/server'
import type { Output } from '../output.ts'
import { createProgress } from '../progress.ts'
import { fail, ok } from './finding.ts'
import type { Finding } from './finding.ts'

const remedy =
  'Stop the service, keep the folder as it is, restore the last backup into an empty one, and have the disk looked at.'

/** The store in the folder exists and can be opened: `checkStore` has checked that. */
export function checkEveryEvent(folder: string, output: Output): Finding {
  const progress = createProgress(output, 'events read')
  try {
    return findingOf(checkEvents(folder, (events) => progress.update(events, undefined)))
  } finally {
    progress.end()
  }
}

export function findingOf({ events, damaged, examples, cutOff }: EventsCheck): Finding {
  const read = `${events.toLocaleString('en-GB')} events read`
  if (cutOff !== undefined) return fail('events', `${read}, and no further (${cutOff})`, remedy)
  const [first] = examples
  if (first !== undefined) {
    const place = `tenant ${first.tenantId}, ${first.feed} feed, position ${first.position}`
    const which =
      damaged === 1 ? `one is damaged (${place})` : `${damaged} are damaged, the first at ${place}`
    return fail('events', `${read}; ${which}; they are answered with 500 storage_damaged`, remedy)
  }
  return ok('events', `${read}, each as it was stored`)
}
