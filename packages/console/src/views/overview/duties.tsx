/** Properties shown now that do not fit a duty by law (PROTOCOL §4.13): counts of agencies for operators, references for an agency itself. */
import { useEffect, useState } from 'preact/hooks'
import type { DutyCount, DutyList, ListedTenant } from '@property-events/protocol/wire'
import { paths } from '../../base.ts'
import { TenantName } from '../../frame/tenant-switcher.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Table } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { listDuties, readTenantDuties } from '../../service/operations/feeds.ts'
import type { Operation } from '../../service/operation.ts'
import { useAnswer } from '../../service/use-answer.ts'
import type { LiveAnswer } from '../../service/use-answer.ts'
import { counted } from '../../words/numbers.ts'

/** Of the agencies that published last; each takes up to half a second. */
const mostAgencies = 25

type Counted<Item extends DutyCount> = {
  readonly advised: boolean
  readonly properties: number
  readonly items: readonly Item[]
  readonly next: string | null
}

const mostRefs = 100

/** The counts of as many calls as it takes, added up; the sum so far while it goes on. */
function useDuties<Item extends DutyCount & { readonly refs?: readonly string[] }>(
  operationOf: (after: string | undefined) => Operation<Counted<Item>> | undefined,
): LiveAnswer<Counted<Item>> {
  const [after, setAfter] = useState<string>()
  const [sum, setSum] = useState<Counted<Item>>()
  const answer = useAnswer(operationOf(after))
  const { value, answeredAt } = answer
  useEffect(() => {
    if (value === undefined) return
    setSum((before) => (after === undefined || before === undefined ? value : added(before, value)))
    if (value.next !== null) setAfter(value.next)
  }, [answeredAt])
  const askAgain = (): void => {
    setAfter(undefined)
    answer.askAgain()
  }
  return { ...answer, value: sum, askAgain }
}

function added<Item extends DutyCount & { readonly refs?: readonly string[] }>(
  before: Counted<Item>,
  more: Counted<Item>,
): Counted<Item> {
  const items = more.items.map((item) => {
    const held = before.items.find(({ code }) => code === item.code)
    if (held === undefined) return item
    const properties = held.properties + item.properties
    if (held.refs === undefined || item.refs === undefined) return { ...item, properties }
    return { ...item, properties, refs: [...held.refs, ...item.refs].slice(0, mostRefs) }
  })
  return { ...more, items, properties: before.properties + more.properties }
}

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
  const counts = useDuties((after) => (isNext ? readTenantDuties(tenantId, after) : undefined))
  const isOver = counts.value?.next === null || counts.failure !== undefined
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
  const lists = useDuties((after) => listDuties(tenantId, after))
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
                  { name: 'Duty', isName: true, isShort: true, cell: ({ code }) => code },
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
