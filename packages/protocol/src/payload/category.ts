import type { PropertyPayload } from './property.ts'

/**
 * Whether a payload can only be a letting, when neither its event nor its history says (D23): it has a rent
 * frequency or deposit, a contract or minimum term, a let type, furnishing or a deposit replacement scheme
 * (each there and not null: 0 and false count, `let_type` 0 and `deposit` 0 are still about a letting), or
 * its status is 6, Let Agreed.
 */
export function impliesLettings(payload: PropertyPayload): boolean {
  const { price_information: price, details } = payload
  const signs = [
    price?.rent_frequency,
    price?.deposit,
    payload.contract_months,
    payload.let_type,
    payload.minimum_term,
    details?.furnished_type,
    details?.deposit_replacement_scheme,
  ]
  return payload.status === 6 || signs.some((sign) => sign !== undefined && sign !== null)
}
