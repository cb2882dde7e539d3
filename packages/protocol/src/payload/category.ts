import { memberAt } from './member-at.ts'

/** Where a payload shows that it is about a letting (D23). Each counts when it is there and not null. */
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
 * Whether a property payload can only be about a letting, for when its event does not say (D23): one of seven
 * lettings fields is there and not null (0 and false count: a letting without deposit is still a letting), or
 * its status is 6, Let Agreed.
 */
export function impliesLettings(payload: unknown): boolean {
  if (memberAt(payload, ['status']) === letAgreed) return true
  return lettingsSigns.some((path) => {
    const sign = memberAt(payload, path)
    return sign !== undefined && sign !== null
  })
}
