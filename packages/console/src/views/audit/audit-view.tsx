/** Who changed what, newest first. */
import { useLocation } from 'preact-iso/router'
import { places } from '../../base.ts'
import { Answer } from '../../parts/answer.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Filters } from '../../parts/filters.tsx'
import { Table } from '../../parts/table.tsx'
import { PlaceLink } from '../../parts/place-link.tsx'
import { hrefOf } from '../../root.ts'
import { readAudit } from '../../service/operations/records.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { now } from '../../state/clock.ts'
import type { ViewProps } from '../view.ts'
import { actorWords, detailWords } from './audit-line.ts'
import '../records.css'

const limit = 50
const fields = [
  { name: 'action', says: 'Action, such as key.created' },
  { name: 'key', says: 'Id of a key' },
] as const

export function AuditView({ parts: { tenantId }, query }: ViewProps) {
  const { route } = useLocation()
  const { action, key, from, to, after } = query
  const rows = useAnswer(readAudit({ limit, tenant: tenantId, action, key, from, to, after }))
  return (
    <article class="audit">
      <header>
        <h1>Audit</h1>
      </header>
      <Filters
        key={JSON.stringify(query)}
        fields={fields}
        query={query}
        look={(values) => route(hrefOf(places.audit(tenantId, values)))}
      />
      <Answer of={rows} what="the audit">
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Empty title="Nothing is on record for this." />
            ) : (
              <Table
                caption="Rows of the audit"
                columns={[
                  { name: 'Time', isName: true, cell: ({ at }) => <LocalTime at={at} /> },
                  {
                    name: 'Who',
                    cell: ({ actor, actorName }) => <span title={actor}>{actorWords(actor, actorName)}</span>,
                  },
                  { name: 'What', cell: (row) => <code>{row.action}</code> },
                  { name: 'Of', cell: ({ target }) => (target === null ? '–' : <code>{target}</code>) },
                  {
                    name: 'Agency',
                    isWide: true,
                    cell: (row) =>
                      row.tenantId === null ? (
                        '–'
                      ) : (
                        <PlaceLink place={places.audit(row.tenantId)}>
                          <code>{row.tenantId.slice(0, 8)}…</code>
                        </PlaceLink>
                      ),
                  },
                  { name: 'Details', cell: ({ detail }) => detailWords(detail, now.value) || '–' },
                ]}
                rows={items}
                keyOf={({ id }) => id}
              />
            )}
            {next !== null && (
              <a href={hrefOf(places.audit(tenantId, { action, key, from, to, after: next }))}>Earlier</a>
            )}
          </>
        )}
      </Answer>
    </article>
  )
}
