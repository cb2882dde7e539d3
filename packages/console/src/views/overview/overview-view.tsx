/** All tenants by their last publication, and what needs attention. A key of tenants sees where it can look. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { places } from '../../base.ts'
import { TenantName } from '../../frame/tenant-switcher.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Empty, Waiting } from '../../parts/empty.tsx'
import { hrefOf, serviceBase } from '../../root.ts'
import type { Tenants } from '@property-events/protocol/wire'
import { listFaults, listTenants, readHealth } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { seesAllTenants } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { counted } from '../../words/numbers.ts'
import { arrival, firstPlace } from '../open-places.ts'
import type { ViewProps } from '../view.ts'
import { Faults } from './faults.tsx'
import { createFactsOfTenants } from './tenant-facts.ts'
import type { FactsOfTenants } from './tenant-facts.ts'
import { distinctFaults, faultOf, faultsOfService, faultsOfTenant } from './tenant-row.ts'
import { TenantTable } from './tenant-table.tsx'
import './overview.css'

export function OverviewView({ query }: ViewProps) {
  return seesAllTenants(signedIn().key) ? (
    <Overview search={query['search'] ?? ''} limit={readLimit(query['limit'])} />
  ) : (
    <OwnTenants />
  )
}

const firstRows = 25
/** The cards shown at first. */
const firstFaults = 20
const mostRows = 200
const everyMs = 2_000

function readLimit(text: string | undefined): number {
  const limit = Number(text)
  return Number.isInteger(limit) && limit >= 1 && limit <= mostRows ? limit : firstRows
}

interface OverviewProps {
  readonly search: string
  readonly limit: number
}

function Overview({ search, limit }: OverviewProps) {
  const { route } = useLocation()
  const known = useMemo(() => createFactsOfTenants(), [])
  useEffect(() => () => known.close(), [])
  const operation = listTenants({ search: search.trim() || undefined, order: 'lastPublish', limit })
  const asked = useAnswer(operation, { everyMs })
  const health = useAnswer(readHealth(), { everyMs: 30_000 })
  const [mostFaults, setMostFaults] = useState(firstFaults)
  const told = useAnswer(listFaults({ limit: mostFaults }), { everyMs: 30_000 })
  const show = (changes: { readonly search?: string; readonly limit?: number }): void =>
    route(
      hrefOf(places.overview({ search, limit: limit === firstRows ? undefined : limit, ...changes })),
      true,
    )
  return (
    <div class="overview">
      <h1>Overview</h1>
      <SearchField search={search} onSearch={(text) => show({ search: text, limit: firstRows })} />
      <Answer of={asked} what="the agencies">
        {(list) => (
          <>
            <Answer of={told} what="what needs somebody">
              {({ items, next }) => (
                <Faults
                  faults={distinctFaults([
                    ...faultsOfService(health.value),
                    ...items.map((fault) => faultOf(fault, now.value)),
                    ...tenantFaults(list, known),
                  ])}
                  onMore={
                    next === null || mostFaults === mostRows ? undefined : () => setMostFaults(mostRows)
                  }
                />
              )}
            </Answer>
            <Tenants list={list} known={known} search={search} />
            {list.next !== null && (
              <button
                type="button"
                disabled={limit >= mostRows}
                onClick={() => show({ limit: Math.min(mostRows, limit * 2) })}
              >
                {limit >= mostRows ? `These are ${mostRows}: search for others` : 'Show more'}
              </button>
            )}
          </>
        )}
      </Answer>
    </div>
  )
}

function tenantFaults({ items }: Tenants, known: FactsOfTenants) {
  return items.flatMap((tenant) => faultsOfTenant(tenant, known.facts.value.get(tenant.tenantId)))
}

interface TenantsProps {
  readonly list: Tenants
  readonly known: FactsOfTenants
  readonly search: string
}

function Tenants({ list, known, search }: TenantsProps) {
  useEffect(() => known.look(list.items), [list])
  if (list.items.length > 0) return <TenantTable tenants={list.items} facts={known.facts.value} />
  return search.trim() === '' ? (
    <EmptyStore />
  ) : (
    <Empty title={`No agency has “${search.trim()}” in its name, reference or id.`} />
  )
}

function SearchField({
  search,
  onSearch,
}: {
  readonly search: string
  readonly onSearch: (text: string) => void
}) {
  const [text, setText] = useState(search)
  useEffect(() => {
    if (text === search) return undefined
    const timer = setTimeout(() => onSearch(text), 200)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      class="search"
      type="search"
      aria-label="Name, reference or id of an agency"
      placeholder="Name, reference or id of an agency"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}

/** How to publish the first event into a store. */
function EmptyStore() {
  const commands = `property-events tenants create "First agency"
property-events keys create --tenant "First agency" --scope property:publish --label "first publisher"
PROPERTY_EVENTS_KEY=pev_… property-events publish listings.ndjson --url ${signedIn().serviceUrl}`
  return (
    <Empty title="There is no agency yet.">
      <p>Make one with a key that may publish, and publish its first event:</p>
      <pre>{commands}</pre>
      <p>
        <Copy text={commands} name="Copy the commands" />
      </p>
    </Empty>
  )
}

/** A key of one tenant, or of none, goes straight to what it may see. */
function OwnTenants() {
  const { key } = signedIn()
  const { route } = useLocation()
  const place = arrival(key)
  useEffect(() => {
    if (place !== undefined) route(hrefOf(place), true)
  }, [])
  if (place !== undefined) return <Waiting what="what this key may see" />
  if (key.grants.length <= 1) return <NoView />
  return (
    <>
      <h1>{counted(key.grants.length, 'agency', 'agencies')}</h1>
      <ul class="choices">
        {key.grants.map(({ tenantId }) => (
          <li key={tenantId}>
            <a href={hrefOf(firstPlace(key, tenantId))}>
              <TenantName tenantId={tenantId} />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

/** A key that may do something, and look at nothing. */
function NoView() {
  const { key } = signedIn()
  const scopes = [...key.scopes, ...key.grants.flatMap((grant) => grant.scopes)]
  return (
    <Empty title="This key opens no view of the console." isView>
      <p>
        It may be used for: {scopes.join(', ')}. The <a href={`${serviceBase}/docs`}>API reference</a> has the
        requests, each with a form to send it.
      </p>
    </Empty>
  )
}
