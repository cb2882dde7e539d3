/** Properties shown now that do not fit a duty by law (PROTOCOL §4.13): counts of agencies for operators, references for an agency itself. */
import { useEffect, useState } from 'preact/hooks'
import type { DutyCount, DutyList, ListedTenant } from '@property-events/protocol/wire'
import { paths } from '../../base.ts'
import { TenantName } from '../../frame/tenant-switcher.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Table } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { listDuties, readTenantDuties } from '../../service/operations/feeds.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { counted } from '../../words/numbers.ts'

/** Of the agencies that published last; each takes up to half a second. */
const mostAgencies = 25

/** The agencies one after another, because a node makes one count at a time. */
export function DutiesOfAgencies({ tenants }: { readonly tenants: readonly ListedTenant[] }) {
  const [answered, setAnswered] = useState(0)
  return (
    <section aria-labelledby="duties">
      <h2 id="duties">Duties by law</h2>
      <p class="quiet">Properties shown now whose adverts do not fit a duty that receipts warn of.</p>
      <ul class="duties">
        {tenants.slice(0, mostAgencies).map(({ tenantId }, n) => (
          <Agency
            key={tenantId}
            tenantId={tenantId}
            isNext={n <= answered}
            onAnswer={() => setAnswered((before) => Math.max(before, n + 1))}
          />
        ))}
      </ul>
    </section>
  )
}

interface AgencyProps {
  readonly tenantId: string
  readonly isNext: boolean
  readonly onAnswer: () => void
}

function Agency({ tenantId, isNext, onAnswer }: AgencyProps) {
  const counts = useAnswer(isNext ? readTenantDuties(tenantId) : undefined)
  const isOver = counts.value !== undefined || counts.failure !== undefined
  useEffect(() => {
    if (isOver) onAnswer()
  }, [isOver])
  return (
    <li>
      <strong>
        <TenantName tenantId={tenantId} />
      </strong>{' '}
      <Answer of={counts} what="the duties">
        {({ advised, properties, items, next }) => (
          <span>{advised ? countsText(items, properties, next !== null) : 'switched off'}</span>
        )}
      </Answer>
    </li>
  )
}

function countsText(items: readonly DutyCount[], properties: number, isPart: boolean): string {
  const found = items.flatMap(({ code, properties: count }) => (count === 0 ? [] : [`${count} ${code}`]))
  const all = `of ${isPart ? 'the first ' : ''}${counted(properties, 'property', 'properties')}`
  return `${found.length === 0 ? 'none' : found.join(', ')} ${all}`
}

/** For a key that publishes or reads the agency's properties: the first hundred of each duty. */
export function DutiesCard({ tenantId }: { readonly tenantId: string }) {
  const lists = useAnswer(listDuties(tenantId))
  return (
    <section aria-labelledby="duties">
      <h2 id="duties">Duties by law</h2>
      <Answer of={lists} what="the duties">
        {({ advised, properties, items, next }) =>
          advised ? (
            <>
              <p class="quiet">
                Of {next === null ? '' : 'the first '}
                {counted(properties, 'property', 'properties')} shown now, those whose adverts do not fit.{' '}
                <button type="button" onClick={lists.askAgain}>
                  Count again
                </button>
              </p>
              <Table
                caption="Duties by law"
                columns={[
                  { name: 'Duty', isName: true, cell: ({ code }) => code },
                  { name: 'Properties', isNumber: true, cell: (item) => item.properties },
                  {
                    name: 'The law',
                    isWide: true,
                    cell: ({ sentence, source }) => `${sentence} (${source})`,
                  },
                  { name: 'Which', cell: (item) => <Refs tenantId={tenantId} item={item} /> },
                ]}
                rows={items}
                keyOf={({ code }) => code}
              />
            </>
          ) : (
            <p class="quiet">The operator has switched these off for the agency.</p>
          )
        }
      </Answer>
    </section>
  )
}

function Refs({
  tenantId,
  item: { refs, properties },
}: {
  readonly tenantId: string
  readonly item: DutyList
}) {
  if (refs.length === 0) return <>–</>
  return (
    <details>
      <summary>{counted(refs.length, 'reference')}</summary>
      <ul class="refusals">
        {refs.map((ref) => (
          <li key={ref}>
            <ViewLink path={paths.property(tenantId, ref)}>{ref}</ViewLink>
          </li>
        ))}
      </ul>
      {refs.length < properties && <p class="quiet">These are the first {refs.length}.</p>}
    </details>
  )
}
