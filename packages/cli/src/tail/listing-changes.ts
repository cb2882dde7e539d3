/** What changed from one version of a listing to the next, in the words of a person who reads listings. */
import type { Listing } from '@property-events/client/listing'

/** Short phrases, those that readers care about most first; empty where nothing that a listing shows has changed. */
export function listingChanges(before: Listing, after: Listing): readonly string[] {
  return [
    // The present price stands beside it.
    before.price.text === after.price.text ? undefined : `was ${before.price.text ?? 'without a price'}`,
    moved('', before.status?.name, after.status?.name),
    moved('address ', before.address.display, after.address.display),
    counted('photograph', before.photographs.length, after.photographs.length),
    counted('floor plan', before.floorPlans.length, after.floorPlans.length),
    moved('bedrooms ', before.bedrooms, after.bedrooms),
    moved('available ', before.availableOn, after.availableOn),
    moved('energy ', before.energyRating?.name, after.energyRating?.name),
    before.summary.text === after.summary.text ? undefined : 'summary',
    before.description.text === after.description.text ? undefined : 'description',
    sameUrls(before, after) ? undefined : 'other photographs',
  ].filter((phrase) => phrase !== undefined)
}

type Shown = string | number | null | undefined

function moved(what: string, before: Shown, after: Shown): string | undefined {
  if ((before ?? null) === (after ?? null)) return undefined
  return `${what}${before ?? 'none'} → ${after ?? 'none'}`
}

function counted(what: string, before: number, after: number): string | undefined {
  if (before === after) return undefined
  return `${before} → ${after} ${what}${after === 1 ? '' : 's'}`
}

/** Where their number differs, that is said already. */
function sameUrls({ photographs: before }: Listing, { photographs: after }: Listing): boolean {
  return before.length !== after.length || before.every(({ url }, index) => url === after[index]?.url)
}
