/** What changed from one version of a listing to the next, in the words of a person who reads listings. */
import type { Listing, ListingPrice } from '@property-events/client/listing'

/** Short phrases, those that readers care about most first; empty where nothing that a listing shows has changed. */
export function listingChanges(before: Listing, after: Listing): readonly string[] {
  return [
    priceChange(before.price, after.price),
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

/** `price 450,000 → 435,000`; with the whole texts where more than the amount has changed, as from a price to POA. */
function priceChange(before: ListingPrice, after: ListingPrice): string | undefined {
  if (before.text === after.text) return undefined
  const isAmount = before.amount !== null && after.amount !== null
  const frame = ({ text, amount }: ListingPrice) => text?.replace(amountText(amount), '#')
  if (isAmount && frame(before) === frame(after)) {
    return `price ${amountText(before.amount)} → ${amountText(after.amount)}`.replaceAll('£', '')
  }
  return `price ${before.text ?? 'none'} → ${after.text ?? 'none'}`
}

/** As `price.text` writes it. */
function amountText(amount: number | null): string {
  const hasPence = amount !== null && !Number.isInteger(amount)
  const digits = { minimumFractionDigits: hasPence ? 2 : 0, maximumFractionDigits: 2 }
  return `£${(amount ?? 0).toLocaleString('en-GB', digits)}`
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
