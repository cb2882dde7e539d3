import type { Category } from '../feeds.ts'
import type { Complaint } from './advice-rules.ts'
import { saysSomething } from './category.ts'
import { statuses } from './codes.ts'
import { memberAt } from './member-at.ts'

/**
 * Fields that belong to one category. Tenure, ground rent and service charge are RTDF's sales fields too, but flats to
 * let have them as well and many systems send them: a warning would be noise.
 */
const categoryFields: readonly (readonly [Category, readonly string[]])[] = [
  ['sales', ['price_information', 'auction']],
  ['sales', ['price_information', 'shared_ownership']],
  ['lettings', ['price_information', 'rent_frequency']],
  ['lettings', ['price_information', 'deposit']],
  ['lettings', ['contract_months']],
  ['lettings', ['minimum_term']],
  ['lettings', ['let_type']],
  ['lettings', ['student_property']],
  ['lettings', ['house_flat_share']],
  ['lettings', ['details', 'furnished_type']],
  ['lettings', ['details', 'deposit_replacement_scheme']],
]

/** Statuses on which RTDF and the readers of this contract agree; they differ about 4 and 5. */
const categoryStatuses: ReadonlyMap<unknown, readonly [Category, number]> = new Map<
  unknown,
  readonly [Category, number]
>([
  [2, ['sales', 2]],
  [3, ['sales', 3]],
  [6, ['lettings', 6]],
])

/** The members of a payload that belong to the other category: pairs of pointer and complaint. */
export function categoryComplaints(
  payload: unknown,
  category: Category,
): readonly (readonly [string, Complaint])[] {
  const complaints: (readonly [string, Complaint])[] = []
  const [statusCategory, status] = categoryStatuses.get(memberAt(payload, ['status'])) ?? [category, 0]
  if (statusCategory !== category) {
    complaints.push(['/status', complaint(statusCategory, `${status} (${statuses.labels.get(status)})`)])
  }
  for (const [only, path] of categoryFields) {
    if (only !== category && saysSomething(memberAt(payload, path))) {
      complaints.push([`/${path.join('/')}`, complaint(only, 'set')])
    }
  }
  return complaints
}

function complaint(only: Category, set: string): Complaint {
  const message = `is ${set}, which is for ${only} only, and this property is in ${only === 'sales' ? 'lettings' : 'sales'}`
  return { code: only === 'sales' ? 'sales_only' : 'lettings_only', message }
}
