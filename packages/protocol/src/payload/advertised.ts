/** What an advert states: its terms, and what buyers and tenants need to know. */
import type { AdvertisedTerms, MaterialFact } from '../../schemas/wire.ts'
import type { Category } from '../feeds.ts'
import { isHome } from './duties/duties.ts'
import { materialFacts } from './duties/material-information.ts'
import { memberAt } from './member-at.ts'

/** @param payload One that was published: `checkPropertyPayload` has no faults with it. */
export function advertised(
  payload: unknown,
  category: Category | undefined,
): { readonly terms: AdvertisedTerms; readonly material: MaterialFact[] } {
  const number = (...path: readonly string[]) => {
    const value = memberAt(payload, path)
    return typeof value === 'number' ? value : null
  }
  const words = memberAt(payload, ['price_information', 'price_qualifier_string'])
  const terms = {
    status: number('status'),
    price: number('price_information', 'price'),
    priceQualifier: number('price_information', 'price_qualifier'),
    priceQualifierText: typeof words === 'string' ? words : null,
    rentFrequency: number('price_information', 'rent_frequency'),
    deposit: number('price_information', 'deposit'),
    contractMonths: number('contract_months'),
    minimumTerm: number('minimum_term'),
  }
  return { terms, material: materialFacts(payload, category, isHome(payload)) }
}
