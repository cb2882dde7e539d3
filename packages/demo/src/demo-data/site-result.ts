/** What the website of a demo agency reports about a listing that it was sent. What it says is true of the listing. */
import type { ConsumerResult } from '@property-events/client'
import { memberOf, memberText } from '@property-events/protocol'

/** A listing with fewer is not shown. */
const fewestPhotographs = 5

/** The members of a property event that the result depends on. */
export interface SentEvent {
  readonly sequenceNumber: number
  readonly payload: string
}

/** `undefined`: the event is about no property. */
export function siteResult({ sequenceNumber, payload }: SentEvent): ConsumerResult | undefined {
  const listing: unknown = JSON.parse(payload)
  const agentRef = memberText(listing, 'agent_ref')
  if (agentRef === undefined) return undefined
  const about = { agentRef, sequenceNumber }
  if (memberOf(listing, 'published') !== true) return { ...about, outcome: 'live' }
  const media = memberOf(listing, 'media')
  const photographs = Array.isArray(media) ? media.length : 0
  if (photographs < fewestPhotographs) {
    const message = `The site wants ${fewestPhotographs} photographs; this listing has ${photographs}`
    return { ...about, outcome: 'refused', code: 'too_few_photographs', message }
  }
  const epc = memberOf(memberOf(listing, 'details'), 'epc_information')
  if (epc !== undefined && memberOf(epc, 'current_energy_rating') === null) {
    const message = 'The site waits for the energy certificate'
    return { ...about, outcome: 'held', code: 'no_energy_rating', message }
  }
  return { ...about, outcome: 'live', url: `https://www.example.com/homes/${agentRef}` }
}
