import type { Category } from '../feeds.ts'
import type { Complaint } from './advice-rules.ts'
import { labelOf } from './code-list.ts'
import { statuses } from './codes.ts'
import type { PropertyPayload } from './property.ts'

interface CategoryField {
  readonly pointer: string
  readonly only: Category
  readonly read: (payload: PropertyPayload) => boolean | number | null | undefined
}

/**
 * Fields that belong to one category. Tenure, ground rent and service charge are RTDF's sales fields too,
 * but a flat to let has them as well and many systems send them: a warning would teach nobody anything.
 */
const categoryFields: readonly CategoryField[] = [
  sales('/price_information/auction', ({ price_information: price }) => price?.auction),
  sales('/price_information/shared_ownership', ({ price_information: price }) => price?.shared_ownership),
  lettings('/price_information/rent_frequency', ({ price_information: price }) => price?.rent_frequency),
  lettings('/price_information/deposit', ({ price_information: price }) => price?.deposit),
  lettings('/contract_months', (payload) => payload.contract_months),
  lettings('/minimum_term', (payload) => payload.minimum_term),
  lettings('/let_type', (payload) => payload.let_type),
  lettings('/student_property', (payload) => payload.student_property),
  lettings('/house_flat_share', (payload) => payload.house_flat_share),
  lettings('/details/furnished_type', ({ details }) => details?.furnished_type),
  lettings('/details/deposit_replacement_scheme', ({ details }) => details?.deposit_replacement_scheme),
]

/** Statuses on which RTDF and the readers of this contract agree; they differ about 4 and 5. */
const categoryStatuses: ReadonlyMap<number, Category> = new Map([
  [2, 'sales'],
  [3, 'sales'],
  [6, 'lettings'],
])

/** What in a payload belongs to the other category: pairs of pointer and complaint. */
export function categoryComplaints(
  payload: PropertyPayload,
  category: Category,
): readonly (readonly [string, Complaint])[] {
  const complaints: (readonly [string, Complaint])[] = []
  const status = payload.status ?? undefined
  const statusCategory = status === undefined ? undefined : categoryStatuses.get(status)
  if (status !== undefined && statusCategory !== undefined && statusCategory !== category) {
    complaints.push(['/status', complaint(statusCategory, `${status} (${labelOf(statuses, status)})`)])
  }
  for (const { pointer, only, read } of categoryFields) {
    // 0 and false are what systems write into fields that do not concern a property.
    if (only !== category && Boolean(read(payload))) complaints.push([pointer, complaint(only, 'set')])
  }
  return complaints
}

function complaint(only: Category, set: string): Complaint {
  const [code, other] =
    only === 'sales' ? (['sales_only', 'a letting'] as const) : (['lettings_only', 'a sale'] as const)
  return { code, message: `is ${set}, which is for ${only} only, and this is ${other}` }
}

function sales(pointer: string, read: CategoryField['read']): CategoryField {
  return { pointer, only: 'sales', read }
}

function lettings(pointer: string, read: CategoryField['read']): CategoryField {
  return { pointer, only: 'lettings', read }
}
