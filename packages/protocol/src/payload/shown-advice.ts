import type { PayloadAdvice } from './advise.ts'
import { isRecord, memberAt } from './member-at.ts'
import { isShownAddress } from './web-address.ts'

/** `media_type` of a photograph. */
const photograph = 1

/** What consumers need of a published property, beyond the contract. */
export function adviseShown(payload: unknown): readonly PayloadAdvice[] {
  const advice: PayloadAdvice[] = []
  const price = memberAt(payload, ['price_information', 'price'])
  if (price === undefined || price === null) {
    const message =
      'price_information/price should be present while the property is published: a known importer stops if it is missing.'
    advice.push({ pointer: '/price_information/price', code: 'missing_price', message })
  }
  if (!hasPhotograph(memberAt(payload, ['media']))) {
    const message = `media has no photograph (media_type ${photograph} with a media_url) that is shown, and the property is published.`
    advice.push({ pointer: '/media', code: 'no_photographs', message })
  }
  return advice
}

function hasPhotograph(media: unknown): boolean {
  return Array.isArray(media) && media.some((item) => isRecord(item) && isPhotograph(item))
}

function isPhotograph({ media_type: type, media_url: address }: Readonly<Record<string, unknown>>): boolean {
  return type === photograph && typeof address === 'string' && isShownAddress(address)
}
