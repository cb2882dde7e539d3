/** Previews, which the writer's thread makes, because they wait for what is being written. */
import type { AppendBatch, AppendOutcome, EventDraft } from '../../append/append-batch.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

/** The writer's verb. */
export interface PreviewWrites {
  preview(batch: AppendBatch): AppendOutcome
}

/**
 * Any number of previews may wait for the writer, and 16 MB of text would be copied for each. So texts are left out, and sent only if a
 * payload may be the stored one in another spelling (D14): of one preview at a time.
 */
export function previewer(writer: OnWriter<PreviewWrites>): (batch: AppendBatch) => Promise<AppendOutcome> {
  let last: Promise<unknown> = Promise.resolve()
  return async (batch) => {
    const outcome = await writer.preview(withoutTexts(batch))
    if (!dependsOnTexts(batch, outcome)) return outcome
    const turn = last.then(() => writer.preview(batch))
    last = turn.catch(() => undefined)
    return turn
  }
}

function withoutTexts(batch: AppendBatch): AppendBatch {
  const drafts = batch.drafts.map((draft): EventDraft => {
    const { content } = draft
    return content.kind === 'payload' ? { ...draft, content: { ...content, text: '{}' } } : draft
  })
  return { ...batch, drafts }
}

function dependsOnTexts({ unchanged }: AppendBatch, outcome: AppendOutcome): boolean {
  if (outcome.kind === 'idConflict') return true
  if (outcome.kind !== 'stored' || unchanged === 'store') return false
  return outcome.events.some(({ status }) => status === 'appended')
}
