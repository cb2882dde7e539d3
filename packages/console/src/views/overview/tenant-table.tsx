/** The tenants of the overview. */
import { Age } from '../../parts/age.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { firstPath } from '../open-paths.ts'
import { hrefOf } from '../../root.ts'
import type { ListedTenant, TenantActivity } from '@property-events/protocol/wire'
import { signedIn } from '../../session/session.ts'
import { counted } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { furthestText, headOf, liveOf, refusedOf, tenantStatus } from './tenant-row.ts'
import { sparklineBars } from '../../parts/chart-scale.ts'
import '../../parts/chart.css'

interface Props {
  readonly tenants: readonly ListedTenant[]
  readonly facts: ReadonlyMap<string, TenantActivity>
}

export function TenantTable({ tenants, facts }: Props) {
  const of = ({ tenantId }: ListedTenant): TenantActivity | undefined => facts.get(tenantId)
  const columns: readonly Column<ListedTenant>[] = [
    { name: 'Name', isName: true, cell: (tenant) => <Name tenant={tenant} /> },
    { name: 'Last number', isNumber: true, cell: (tenant) => headOf(of(tenant)) },
    { name: 'Last published', isShort: true, cell: ({ lastPublishedAt }) => <Age at={lastPublishedAt} /> },
    { name: '24 h', isWide: true, cell: (tenant) => <Rate facts={of(tenant)} /> },
    { name: 'Listed', isNumber: true, cell: (tenant) => liveOf(of(tenant)) },
    { name: 'Furthest behind', cell: (tenant) => furthestText(of(tenant)) },
    { name: 'Refused', isNumber: true, cell: (tenant) => refusedOf(of(tenant)) },
  ]
  return (
    <Table
      caption="Agencies by their last publish"
      columns={columns}
      rows={tenants}
      keyOf={({ tenantId }) => tenantId}
    />
  )
}

function Name({ tenant }: { readonly tenant: ListedTenant }) {
  const status = tenantStatus(tenant)
  return (
    <>
      <a href={hrefOf(firstPath(signedIn().key, tenant.tenantId))}>{oneLine(tenant.name)}</a>
      {status !== undefined && <span class="tenant-status"> {status}</span>}
    </>
  )
}

function Rate({ facts }: { readonly facts: TenantActivity | undefined }) {
  if (facts === undefined) return <>…</>
  const sum = facts.published.reduce((total, count) => total + count, 0)
  return <Sparkline counts={facts.published} label={`${counted(sum, 'event')} in 24 hours`} />
}

interface SparklineProps {
  readonly counts: readonly number[]
  /** What the bars show, in words, for those who do not see the picture. */
  readonly label: string
}

const height = 20
const step = 4

/** Counts over time as a row of bars. */
function Sparkline({ counts, label }: SparklineProps) {
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${counts.length * step} ${height}`}>
      <title>{label}</title>
      {sparklineBars(counts, height).map((bar, n) => (
        <rect key={n} x={n * step} y={height - bar} width={step - 1} height={bar} />
      ))}
    </svg>
  )
}
