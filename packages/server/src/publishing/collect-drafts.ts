/** Collects the drafts of a publication, its warnings or its faults, while its items are read one by one. */
import type { JsonReading, ProblemError, PublishWarning } from '@property-events/protocol'
import type { EventDraft } from '../events/append/append-batch.ts'
import { warningCollector } from './collect-warnings.ts'
import { draftOfItem } from './draft-of-item.ts'
import type { DraftContext } from './draft-of-item.ts'
import { maxReported } from './publication-body.ts'
import type { Item } from './publication-body.ts'

export type PublicationReading =
  | {
      readonly kind: 'drafts'
      readonly drafts: readonly EventDraft[]
      readonly warnings: readonly PublishWarning[]
      /** The events are items of an array or lines, so a pointer to one of them begins with its index. */
      readonly inList: boolean
    }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

export interface DraftCollector {
  /** `textReading`: the reading of the payload's text, if it was read before. */
  add(item: Item, textReading: JsonReading | undefined): void
  /** The maximum number of faults has been reached. */
  full(): boolean
  reading(): PublicationReading
}

/** Reads items in order, and compares each with those before it. */
export function draftCollector(context: DraftContext): DraftCollector {
  const drafts: EventDraft[] = []
  const warnings = warningCollector()
  const errors: ProblemError[] = []
  const seenIds = new Set<string>()
  let inList = true
  return {
    add(item, textReading) {
      const index = drafts.length
      inList = item.pointer !== ''
      const reading = draftOfItem(item, textReading, context)
      if (reading.kind === 'faults') {
        for (const error of reading.errors)
          errors.push({ ...error, pointer: `${item.pointer}${error.pointer ?? ''}` })
        return
      }
      const { draft, advice, unknownFields } = reading
      if (draft.idGiven) {
        if (seenIds.has(draft.id)) {
          const message = 'This id occurs twice in the request; every event needs its own.'
          errors.push({ pointer: `${item.pointer}/id`, code: 'duplicate_id', message })
        }
        seenIds.add(draft.id)
      }
      drafts.push(draft)
      warnings.add(index, advice, unknownFields)
    },
    full: () => errors.length >= maxReported,
    reading() {
      if (errors.length > 0) return { kind: 'faults', errors: errors.slice(0, maxReported) }
      return { kind: 'drafts', drafts, warnings: warnings.warnings(), inList }
    },
  }
}
