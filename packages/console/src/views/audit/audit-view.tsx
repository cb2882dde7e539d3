/** Who changed what, newest first. */
import { useLocation } from 'preact-iso/router'
import type { AuditRow } from '@property-events/protocol/wire'
import { paths } from '../../base.ts'
import { Answer, Empty } from '../../parts/answer.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { Filters } from '../../parts/filters.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { hrefOf } from '../../root.ts'
import { listKeys } from '../../service/operations/keys.ts'
import { readAudit } from '../../service/operations/records.ts'
import { listTenants } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import type { ViewProps } from '../view.ts'
import { actionWords, actorWords, detailWords, labelsOf } from './audit-line.ts'
import type { Labels } from './audit-line.ts'
import '../records.css'

const limit = 50
const fields = [
  { name: 'action', says: 'Action, such as key.created' },
  { name: 'key', says: 'Key id' },
] as const

export function AuditView({ parts: { tenantId }, query }: ViewProps) {
  const { route } = useLocation()
  const { action, key, from, to, after } = query
  const rows = useAnswer(readAudit({ limit, tenant: tenantId, action, key, from, to, after }))
  const labels = useLabels(tenantId)
  return (
    <article class="audit">
      <header>
        <h1>{tenantId === undefined ? 'Audit (all agencies)' : 'Audit'}</h1>
      </header>
      <Filters
        key={JSON.stringify(query)}
        fields={fields}
        query={query}
        apply={(values) => route(hrefOf(paths.audit(tenantId, values)))}
      />
      <Answer of={rows} what="the audit">
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No results." />
            ) : (
              <Table
                caption="Rows of the audit"
                columns={[
                  { name: 'Time', isName: true, isShort: true, cell: ({ at }) => <LocalTime at={at} /> },
                  {
                    name: 'Who',
                    cell: ({ actor, actorName }) => (
                      <span title={actor}>{actorWords(actor, actorName, labels)}</span>
                    ),
                  },
                  {
                    name: 'Action',
                    cell: ({ action: code }) => <span title={code}>{actionWords(code)}</span>,
                  },
                  { name: 'Subject', cell: ({ target }) => <Subject target={target} labels={labels} /> },
                  ...(tenantId === undefined ? [agencyColumn(labels)] : []),
                  { name: 'Details', cell: ({ detail }) => detailWords(detail, now.value) || '–' },
                ]}
                rows={items}
                keyOf={({ id }) => id}
              />
            )}
            {next !== null && (
              <a href={hrefOf(paths.audit(tenantId, { action, key, from, to, after: next }))}>Earlier</a>
            )}
          </>
        )}
      </Answer>
    </article>
  )
}

/** The most in an answer: more than most services have. */
const mostNames = 200

/** Of the keys, and for operators of the agencies. */
function useLabels(tenantId: string | undefined): Labels {
  const isInspector = mayAdminister(signedIn().key, 'admin:inspect', tenantId)
  const keys = useAnswer(isInspector ? listKeys({ tenant: tenantId, limit: mostNames }) : undefined)
  const tenants = useAnswer(
    isInspector && tenantId === undefined ? listTenants({ limit: mostNames }) : undefined,
  )
  return labelsOf(keys.value?.items, tenants.value?.items)
}

function Subject({ target, labels }: { readonly target: string | null; readonly labels: Labels }) {
  if (target === null) return <>–</>
  const label = labels.get(target)
  return label === undefined ? <code>{target}</code> : <span title={target}>{label}</span>
}

/** Only where there are several. */
function agencyColumn(labels: Labels): Column<AuditRow> {
  return {
    name: 'Agency',
    isWide: true,
    cell: (row) =>
      row.tenantId === null ? (
        '–'
      ) : (
        <ViewLink path={paths.audit(row.tenantId)}>
          {labels.get(row.tenantId) ?? `${row.tenantId.slice(0, 8)}…`}
        </ViewLink>
      ),
  }
}
