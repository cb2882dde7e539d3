/** The warnings in a receipt: the first 100 of the request, in the order of its events (PROTOCOL §8). */
import type { PublishWarning } from '@property-events/protocol'
import type { AppendRemark, AppendedEvent } from '../events/append/append-batch.ts'
import type { Advice } from './publication-payload.ts'
import { maxReported } from './publication-body.ts'

/**
 * Collects warnings while events are read. Unknown fields that look like no known one are only counted, and reported
 * once.
 */
export function warningCollector() {
  const warnings: PublishWarning[] = []
  /** They take what room the others leave. */
  const lesser: PublishWarning[] = []
  const unknown = { fields: 0, events: 0, firstIndex: 0 }
  return {
    /** Adds the warnings about the next event. */
    add(index: number, advice: readonly Advice[], unknownFields: number): void {
      for (const remark of advice) {
        const some = remark.code === 'material_information' ? lesser : warnings
        if (some.length < maxReported) some.push({ index, ...remark })
      }
      if (unknownFields === 0) return
      if (unknown.events === 0) unknown.firstIndex = index
      unknown.fields += unknownFields
      unknown.events += 1
    },
    warnings(): readonly PublishWarning[] {
      const room = lesser.slice(0, maxReported - warnings.length)
      const all = room.length === 0 ? warnings : merged(warnings, room)
      if (unknown.fields === 0) return all
      const { fields, events, firstIndex: index } = unknown
      const message =
        `${fields === 1 ? '1 field is' : `${fields} fields are`} not known to the contract` +
        `${events === 1 ? '' : `, in ${events} events`}: kept and passed on as sent.`
      return merged(all, [{ index, pointer: '', code: 'unknown_fields', message }])
    },
  }
}

/** The same, with the warnings that depend on earlier events, which only the store knows. */
export function withRemarks(
  warnings: readonly PublishWarning[],
  events: readonly AppendedEvent[],
): readonly PublishWarning[] {
  const remarks = events.flatMap(({ index, remarks: own = [] }) =>
    own.map((remark) => ({ index, ...sentences[remark] })),
  )
  return remarks.length === 0 ? warnings : merged(warnings, remarks)
}

const sentences: Readonly<Record<AppendRemark, Advice>> = {
  updateDateUnchanged: {
    pointer: '/update_date',
    code: 'update_date_unchanged',
    message:
      'update_date is the same as in the previous event, but the property has changed: consumers that compare the date will miss that.',
  },
  salesAgainstPrice: {
    pointer: '/price_information/price',
    code: 'category_derived',
    message:
      'No category was sent, so the property is in sales, but its price looks like a rent: send category, or rent_frequency.',
  },
  lettingsAgainstPrice: {
    pointer: '/price_information/price',
    code: 'category_derived',
    message:
      'No category was sent, so the property is in lettings, by its fields or its previous event, but its price looks like that of a sale: send category.',
  },
  restricted: {
    pointer: '',
    code: 'restricted',
    message: 'This contact is restricted: the event is kept, and shown to nobody until the restriction ends.',
  },
  otherSpelling: {
    pointer: '/transactionId',
    code: 'transaction_id_differs',
    message:
      'transactionId is not spelled as in the first event of its subject, and known consumers compare it as text: leave it out.',
  },
}

/**
 * In the order of the events; sorting keeps the order of warnings about one event. Where there are too many, those about what is not stated
 * give way, the last first: most adverts have one.
 */
function merged(
  warnings: readonly PublishWarning[],
  more: readonly PublishWarning[],
): readonly PublishWarning[] {
  const all = [...warnings, ...more].toSorted((one, other) => one.index - other.index)
  let excess = all.length - maxReported
  if (excess <= 0) return all
  const kept = all.toReversed().filter(({ code }) => code !== 'material_information' || (excess -= 1) < 0)
  return kept.toReversed().slice(0, maxReported)
}
