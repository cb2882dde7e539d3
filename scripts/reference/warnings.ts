/** The codes of warnings in a receipt, and when each is given. */
import type { PayloadAdviceCode } from '../../packages/protocol/src/index.ts'
import { code, prose, rows } from './html.ts'
import type { Links } from './html.ts'

type WarningCode =
  | PayloadAdviceCode
  | 'transaction_id_differs'
  | 'update_date_unchanged'
  | 'unknown_fields'
  | 'event_type_contradicts_payload'
  | 'restricted'
  | 'category_derived'

/** A new code of advice about payloads gets its line here, or the types do not check. */
export const warnings: Readonly<Record<WarningCode, string>> = {
  transaction_id_differs:
    "`transactionId` was sent and is not the subject's UUID, or not as the subject's first event spells it. The pointer is into the event.",
  missing_price:
    'The property is published and has no `price_information.price`: a known importer stops there.',
  no_photographs:
    'The property is published, and `media` holds no photograph (`media_type` 1 with a `media_url`).',
  update_date_unchanged:
    "`update_date` is the same as in the subject's previous event, although the payload differs.",
  unknown_field: 'A member is not one of the fields here but looks like one: `adress`, `displayAddress`.',
  unknown_fields:
    'How many further members are not fields of the contract. One warning for the whole request.',
  event_type_contradicts_payload:
    'The named type says published and the payload does not, or the other way round.',
  restricted: 'The contact is restricted: the event is kept, and shown to nobody until the restriction ends.',
  category_derived:
    'No category was sent, and the one derived is not the one that the price looks like: a house for £950, a flat to let for £450,000. Send `category`.',
  sales_only: 'A field or status of sales, in a letting.',
  lettings_only: 'A field or status of lettings, in a sale.',
  unknown_code: 'A code that is not in its list.',
  out_of_range: 'A number beyond its range.',
  too_long: 'A text with more characters than advised.',
  too_short: 'A text with fewer characters than advised.',
  too_many_items: 'A list with more items than advised.',
  repeated_item: 'A list that has an item twice; of `media`, an address: it is shown once.',
  bad_date: 'Not a date of the calendar, or in another form.',
  bad_postcode: 'Not a postcode of the United Kingdom.',
  bad_url:
    'An address with characters that should be percent-encoded, which is shown encoded; or one that no browser would open, which is not shown.',
  bad_position: 'A position of 0, 0, which is not shown, or one whose two numbers seem to be exchanged.',
  bad_email: 'Not an email address.',
  bad_phone: 'Not a telephone number.',
  rent_not_specific:
    'Lettings in England: no price or `rent_frequency`, a qualifier that is no fixed sum, or a range or an invitation to offer in `price_qualifier_string`.',
  rent_period_too_long: 'Lettings in England: a rent by the year or quarter.',
  fixed_term_advertised: 'Lettings in England: `contract_months` or `minimum_term` above 0.',
  tenant_excluded:
    'Lettings in England: `housing_benefit_considered` is false, or wording shuts out people on benefits or with children; the passage is quoted.',
  material_information:
    'The advert does not state what it should: one warning, with all places in `pointers`. Stated as none is stated.',
  consent_without_date: 'A consent without the day on which it was given.',
}

export function warningsHtml(links: Links): string {
  return rows(
    Object.entries(warnings).map(([name, text]) => ({
      anchor: `warning-${name}`,
      name: code(name),
      kind: '',
      text: prose(text, links),
    })),
  )
}
