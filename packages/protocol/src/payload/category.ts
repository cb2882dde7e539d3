import { memberAt } from './member-at.ts'

/** The members that show that a payload is about a letting (D23). Each counts when it is there and not null. */
const lettingsSigns: readonly (readonly string[])[] = [
  ['price_information', 'rent_frequency'],
  ['price_information', 'deposit'],
  ['contract_months'],
  ['let_type'],
  ['minimum_term'],
  ['details', 'furnished_type'],
  ['details', 'deposit_replacement_scheme'],
]

const letAgreed = 6

/**
 * True when a property payload can only be about a letting, for events that do not say so (D23): one of seven lettings
 * fields is there and not null (0 and false count: a letting without a deposit is still a letting), or its status is 6,
 * Let Agreed.
 */
export function impliesLettings(payload: unknown): boolean {
  if (memberAt(payload, ['status']) === letAgreed) return true
  return lettingsSigns.some((path) => {
    const sign = memberAt(payload, path)
    return sign !== undefined && sign !== null
  })
}
