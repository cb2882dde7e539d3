/** What was published for an agency, minute by minute, and what was refused. */
import { useLocation } from 'preact-iso/router'
import { paths } from '../../base.ts'
import type { Query } from '../../base.ts'
import { Answer, Empty } from '../../parts/answer.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Filters } from '../../parts/filters.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../root.ts'
import { listKeys } from '../../service/operations/keys.ts'
import { listOwnPublications, listPublications } from '../../service/operations/records.ts'
import type { Key, PublicationMinute } from '@property-events/protocol/wire'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister, scopesIn } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { counted } from '../../words/numbers.ts'
import { DutiesCard } from '../overview/duties.tsx'
import type { ViewProps } from '../view.ts'
import {
  keyName,
  outcomeWords,
  publishingKeys,
  refusalWords,
  warningPointerLines,
  warningWords,
} from './publication-line.ts'
import '../records.css'

const limit = 50
/** The most in one answer: more than any agency uses. */
const mostKeys = 200

export function PublicationsView({ parts: { tenantId = '' }, query }: ViewProps) {
  const { route } = useLocation()
  const isAdmin = mayAdminister(signedIn().key, 'admin:inspect', tenantId)
  const scopes = scopesIn(signedIn().key, tenantId)
  const hasProperties = scopes.includes('property:publish') || scopes.includes('property:read')
  const { key, from, to, after } = query
  const asked = { limit, after, key, from, to }
  const list = isAdmin ? listPublications(tenantId, asked) : listOwnPublications(tenantId, asked)
  const minutes = useAnswer(list)
  const all = useAnswer(isAdmin ? listKeys({ tenant: tenantId, limit: mostKeys }) : undefined).value?.items
  // A publisher sees what it has published itself.
  const keys = isAdmin ? all : [signedIn().key]
  return (
    <article class="publications">
      <header>
        <h1>Publications</h1>
        <button type="button" onClick={minutes.askAgain}>
          Refresh
        </button>
      </header>
      <p class="quiet">
        By key and minute, newest first, for 14 days. Each minute appears within 35 seconds.
      </p>
      <Filters
        key={JSON.stringify(query)}
        fields={isAdmin ? [{ name: 'key', says: 'Key', among: publishingKeys(keys, key) }] : []}
        query={query}
        apply={(values) => route(hrefOf(paths.publications(tenantId, values)))}
      />
      <Answer of={minutes} what="what was published">
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Nothing
                isFirst={after === undefined}
                isAll={[key, from, to].every((one) => one === undefined)}
              />
            ) : (
              <Minutes tenantId={tenantId} items={items} keys={keys} query={{ from, to }} />
            )}
            {next !== null && (
              <a href={hrefOf(paths.publications(tenantId, { key, from, to, after: next }))}>Earlier</a>
            )}
          </>
        )}
      </Answer>
      {hasProperties && <DutiesCard tenantId={tenantId} />}
    </article>
  )
}

function Nothing({ isFirst, isAll }: { readonly isFirst: boolean; readonly isAll: boolean }) {
  if (!isFirst) return <Empty title="No earlier publications." />
  if (!isAll) return <Empty title="No publications match." />
  return (
    <Empty title="No publications in the last 14 days.">
      <p>The API reference shows how to publish the first event.</p>
    </Empty>
  )
}

interface MinutesProps {
  readonly tenantId: string
  readonly items: readonly PublicationMinute[]
  readonly keys: readonly Key[] | undefined
  /** The part that stays when one key is chosen. */
  readonly query: Query
}

function Minutes({ tenantId, items, keys, query }: MinutesProps) {
  return (
    <Table
      caption="Publications"
      columns={[
        { name: 'Minute', isName: true, isShort: true, cell: ({ at }) => <LocalTime at={at} isMinute /> },
        {
          name: 'Key',
          cell: ({ keyId }) => (
            <a href={hrefOf(paths.publications(tenantId, { ...query, key: keyId }))} title={keyId}>
              {keyName(keyId, keys)}
            </a>
          ),
        },
        { name: 'Feed', cell: ({ feed }) => feed },
        { name: 'Requests', isNumber: true, isWide: true, cell: ({ requests }) => requests },
        { name: 'Result', cell: (minute) => <Result tenantId={tenantId} minute={minute} /> },
        { name: 'Warnings', cell: (minute) => <Warned minute={minute} /> },
        { name: 'Refused', cell: (minute) => <Refused minute={minute} /> },
      ]}
      rows={items}
      keyOf={({ at, keyId, feed }) => `${at} ${keyId} ${feed}`}
    />
  )
}

function Result({ tenantId, minute }: { readonly tenantId: string; readonly minute: PublicationMinute }) {
  const words = outcomeWords(minute)
  const { feed, firstNumber } = minute
  if (firstNumber === null) return <>{words}</>
  return <ViewLink path={paths.feed(tenantId, feed, { number: firstNumber })}>{words}</ViewLink>
}

function Warned({ minute }: { readonly minute: PublicationMinute }) {
  const words = warningWords(minute)
  const lines = warningPointerLines(minute)
  if (lines.length === 0) return <>{words || '–'}</>
  return (
    <details>
      <summary class="mark-behind">{words}</summary>
      <ul class="refusals" aria-label="Examples">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  )
}

function Refused({ minute: { refused, refusals } }: { readonly minute: PublicationMinute }) {
  if (refused === 0) return <>–</>
  return (
    <details>
      <summary class="mark-stopped">{counted(refused, 'request')}</summary>
      <ul class="refusals">
        {refusals.map((refusal) => (
          <li key={refusal.requestId}>
            <LocalTime at={refusal.at} /> {refusalWords(refusal)}{' '}
            <Copy
              text={refusal.requestId}
              label="Request id"
              name={`Copy the request id ${refusal.requestId}`}
            />
          </li>
        ))}
      </ul>
      {refusals.length < refused && <p class="quiet">Only the number of further refusals is kept.</p>}
    </details>
  )
}
