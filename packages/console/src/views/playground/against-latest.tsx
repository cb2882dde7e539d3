/** What a draft would change in the property as it is now. */
import { paths } from '../../base.ts'
import { ViewLink } from '../../parts/view-link.tsx'
import type { FeedName } from '../../base.ts'
import { getSubject } from '../../service/operations/feeds.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { countText } from '../../words/numbers.ts'
import { comparePayloads } from '../property/diff/compare-payloads.ts'
import { DifferenceText } from '../property/difference-text.tsx'
import { readVersion } from '../property/read-version.ts'
import { drafted } from './read-draft.ts'
import type { Draft } from './read-draft.ts'

interface Props {
  readonly tenantId: string
  readonly feed: FeedName
  readonly draft: Extract<Draft, { readonly kind: 'events' }>
}

/** Only for a single property; publishers do not read contacts. */
export function AgainstLatest({ tenantId, feed, draft }: Props) {
  const one = feed === 'property' ? drafted(draft) : undefined
  const latest = useAnswer(
    one === undefined ? undefined : getSubject({ tenantId, feed, door: 'own' }, one.agentRef),
  )
  if (one === undefined) return null
  if (latest.failure?.code === 'subject_not_found')
    return <p>New property: the feed has no earlier version.</p>
  if (latest.value === undefined) return null
  const { sequenceNumber } = latest.value
  const { differences, more } = comparePayloads(readVersion(latest.value).payload, one.payload)
  return (
    <div class="property">
      <p>
        Compared with <ViewLink path={paths.property(tenantId, one.agentRef)}>its latest version</ViewLink> (#
        {countText(sequenceNumber)}):
        {differences.length === 0 && ' no changes.'}
      </p>
      <ul class="differences">
        {differences.map((difference) => (
          <li key={difference.pointer}>
            <DifferenceText difference={difference} />
          </li>
        ))}
      </ul>
      {more > 0 && <p>and {countText(more)} more</p>}
    </div>
  )
}
