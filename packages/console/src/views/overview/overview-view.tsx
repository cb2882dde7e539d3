/** All tenants by their last publication, and what needs attention. A key of tenants sees where it can look. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { paths } from '../../base.ts'
import { TenantName } from '../../frame/tenant-switcher.tsx'
import { Answer, Empty, Waiting } from '../../parts/answer.tsx'
import { Copy } from '../../parts/copy.tsx'
import { hrefOf, serviceBase } from '../../root.ts'
import type { Tenants } from '@property-events/protocol/wire'
import { listFaults, listTenants, readHealth } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { seesAllTenants } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { counted } from '../../words/numbers.ts'
import { arrival, firstPath } from '../open-paths.ts'
import type { ViewProps } from '../view.ts'
import { Activity } from './activity.tsx'
import { DutiesOfAgencies } from './duties.tsx'
import { createFactsOfTenants } from './tenant-facts.ts'
import type { FactsOfTenants } from './tenant-facts.ts'
import { distinctFaults, faultOf, faultsOfService, faultsOfTenant } from './tenant-row.ts'
import type { Fault } from './tenant-row.ts'
import { TenantTable } from './tenant-table.tsx'
import './overview.css'
import { Icon } from '../../parts/icon.tsx'

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
  const facts = useMemo(() => createFactsOfTenants(), [])
  useEffect(() => () => facts.close(), [])
  const operation = listTenants({ search: search.trim() || undefined, order: 'lastPublish', limit })
  const tenants = useAnswer(operation, { everyMs })
  const health = useAnswer(readHealth(), { everyMs: 30_000 })
  const [mostFaults, setMostFaults] = useState(firstFaults)
  const faults = useAnswer(listFaults({ limit: mostFaults }), { everyMs: 30_000 })
  const show = (changes: { readonly search?: string; readonly limit?: number }): void =>
    route(
      hrefOf(paths.overview({ search, limit: limit === firstRows ? undefined : limit, ...changes })),
      true,
    )
  return (
    <div class="overview">
      <h1>Overview</h1>
      <Answer of={tenants} what="the agencies">
        {(list) => (
          <>
            <Answer of={faults} what="what needs attention">
              {({ items, next }) => {
                const cards = distinctFaults([
                  ...faultsOfService(health.value),
                  ...items.map((fault) => faultOf(fault, now.value)),
                  ...tenantFaults(list, facts),
                ])
                const attention = (
                  <Attention
                    faults={cards}
                    onMore={
                      next === null || mostFaults === mostRows ? undefined : () => setMostFaults(mostRows)
                    }
                  />
                )
                return list.items.length === 0 ? (
                  attention
                ) : (
                  <Activity list={list} facts={facts.facts.value} faults={cards.length}>
                    {attention}
                  </Activity>
                )
              }}
            </Answer>
            <h2>Agencies</h2>
            <SearchField search={search} onSearch={(text) => show({ search: text, limit: firstRows })} />
            <Tenants list={list} facts={facts} search={search} />
            {list.items.length > 0 && <DutiesOfAgencies tenants={list.items} />}
            {list.next !== null && (
              <button
                type="button"
                disabled={limit >= mostRows}
                onClick={() => show({ limit: Math.min(mostRows, limit * 2) })}
              >
                {limit >= mostRows ? `First ${mostRows} shown. Search for more.` : 'Show more'}
              </button>
            )}
          </>
        )}
      </Answer>
    </div>
  )
}

function tenantFaults({ items }: Tenants, facts: FactsOfTenants) {
  return items.flatMap((tenant) => faultsOfTenant(tenant, facts.facts.value.get(tenant.tenantId)))
}

interface TenantsProps {
  readonly list: Tenants
  readonly facts: FactsOfTenants
  readonly search: string
}

function Tenants({ list, facts, search }: TenantsProps) {
  useEffect(() => facts.want(list.items), [list])
  if (list.items.length > 0) return <TenantTable tenants={list.items} facts={facts.facts.value} />
  return search.trim() === '' ? (
    <EmptyStore />
  ) : (
    <Empty title={`No results for “${search.trim()}” in names, references and ids.`} />
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
    <Empty title="No agencies yet.">
      <p>Create one with a key that publishes, and publish its first event:</p>
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
  const path = arrival(key)
  useEffect(() => {
    if (path !== undefined) route(hrefOf(path), true)
  }, [])
  if (path !== undefined) return <Waiting what="the first view of your key" />
  if (key.grants.length <= 1) return <NoView />
  return (
    <>
      <h1>{counted(key.grants.length, 'agency', 'agencies')}</h1>
      <ul class="choices">
        {key.grants.map(({ tenantId }) => (
          <li key={tenantId}>
            <a href={hrefOf(firstPath(key, tenantId))}>
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
    <Empty title="No view of the console is open to your key." isView>
      <p>
        Its scopes: {scopes.join(', ')}. The <a href={`${serviceBase}/docs`}>API reference</a> has the
        requests, each with a form to send it.
      </p>
    </Empty>
  )
}

interface AttentionProps {
  readonly faults: readonly Fault[]
  /** There are more than these. */
  readonly onMore: (() => void) | undefined
}

/** What needs attention: a card for each. */
function Attention({ faults, onMore }: AttentionProps) {
  return (
    <section class="faults" aria-labelledby="faults">
      <h2 id="faults">Needs attention</h2>
      {faults.length === 0 ? (
        <p class="quiet">
          <Icon name="good" /> No agency is silent, no consumer has stopped, and no key is refused or about to
          expire.
        </p>
      ) : (
        <ul>
          {faults.map(({ key, sentence, remedy, action, isBad }) => (
            <li key={key} class={isBad ? 'bad' : 'warn'}>
              <p>
                <Icon name="attention" /> {sentence}
                {remedy !== undefined && <span class="remedy"> {remedy}</span>}
              </p>
              {action !== undefined && <a href={hrefOf(action.path)}>{action.name}</a>}
            </li>
          ))}
        </ul>
      )}
      {onMore !== undefined && (
        <button type="button" onClick={onMore}>
          Show more
        </button>
      )}
    </section>
  )
}
