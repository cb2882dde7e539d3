/** Erasures of an agency: what was erased, how far each has got, their receipts, and the form to erase. */
import { useState } from 'preact/hooks'
import { paths } from '../../base.ts'
import type { Erasure } from '@property-events/protocol/wire'
import { Answer, Empty, Problem } from '../../parts/answer.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { Icon } from '../../parts/icon.tsx'
import { saveFile } from '../../parts/copy.tsx'
import { Table } from '../../parts/table.tsx'
import { ViewLink } from '../../parts/view-link.tsx'
import { hrefOf } from '../../root.ts'
import { call } from '../../service/call.ts'
import { getErasure, listErasures } from '../../service/operations/privacy.ts'
import type { ErasureAddress } from '../../service/operations/privacy.ts'
import type { Failure } from '../../service/failure.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { oneLine } from '../../words/plain.ts'
import type { ViewProps } from '../view.ts'
import { EraseDialog } from './erase-dialog.tsx'
import { reasonWords, stateWords } from './erasure-form.ts'
import '../records.css'

const askAgainMs = 5_000

export function ErasuresView({ parts: { tenantId = '' }, query }: ViewProps) {
  const isAdmin = mayAdminister(signedIn().key, 'admin:erase', tenantId)
  const address: ErasureAddress = { tenantId, door: isAdmin ? 'admin' : 'own' }
  const erasures = useAnswer(listErasures(address, query['after']), { everyMs: askAgainMs })
  const [isErasing, setErasing] = useState(false)
  return (
    <article class="erasures">
      <header>
        <h1>Erasures</h1>
        <button type="button" class="danger" onClick={() => setErasing(true)}>
          <Icon name="erase" /> Erase …
        </button>
      </header>
      <p class="quiet">
        For data subject requests about a contact, open the contact: its page has export, restriction and
        erasure.
      </p>
      <Answer of={erasures} what="the erasures">
        {(value) => (
          <>
            {value.erasures.length === 0 ? (
              <Empty title="No erasures yet." />
            ) : (
              <Erasures address={address} erasures={value.erasures} />
            )}
            {value.next !== null && (
              <a href={hrefOf(paths.erasures(tenantId, { after: value.next }))}>Next page</a>
            )}
          </>
        )}
      </Answer>
      {isErasing && (
        <EraseDialog
          address={address}
          onClose={() => {
            setErasing(false)
            erasures.askAgain()
          }}
        />
      )}
    </article>
  )
}

function Erasures({
  address,
  erasures,
}: {
  readonly address: ErasureAddress
  readonly erasures: readonly Erasure[]
}) {
  return (
    <Table
      caption="Erasures"
      columns={[
        { name: 'Started', isName: true, isShort: true, cell: ({ begunAt }) => <LocalTime at={begunAt} /> },
        { name: 'Feed', cell: ({ feed }) => feed },
        {
          name: 'Subject',
          cell: (erasure) => <Subject tenantId={address.tenantId} erasure={erasure} />,
        },
        { name: 'Reason', cell: ({ reason }) => reasonWords(reason) },
        { name: 'Case', isWide: true, cell: ({ caseRef }) => oneLine(caseRef ?? '–') },
        { name: 'Events', isNumber: true, cell: ({ events }) => events },
        { name: 'State', cell: (erasure) => stateWords(erasure) },
        { name: 'Receipt', cell: (erasure) => <Receipt address={address} erasure={erasure} /> },
      ]}
      rows={erasures}
      keyOf={({ id }) => id}
    />
  )
}

/** An event has no page of its own. */
function Subject({ tenantId, erasure }: { readonly tenantId: string; readonly erasure: Erasure }) {
  const { feed, subjectId, eventId } = erasure
  if (subjectId === undefined || subjectId === null) return <code>event {eventId}</code>
  return (
    <ViewLink
      path={feed === 'contact' ? paths.contact(tenantId, subjectId) : paths.property(tenantId, subjectId)}
    >
      <code>{subjectId}</code>
    </ViewLink>
  )
}

/** The present receipt, including those who were sent what was erased. */
function Receipt({ address, erasure }: { readonly address: ErasureAddress; readonly erasure: Erasure }) {
  const [failure, setFailure] = useState<Failure>()
  async function download(): Promise<void> {
    const outcome = await call(getErasure(address, erasure.id))
    setFailure(outcome.kind === 'failure' ? outcome.failure : undefined)
    if (outcome.kind === 'answer') saveFile(`erasure-${erasure.id}.json`, outcome.value)
  }
  return (
    <>
      <button type="button" aria-label={`Download the receipt ${erasure.id}`} onClick={() => void download()}>
        Download
      </button>
      {failure !== undefined && <Problem failure={failure} />}
    </>
  )
}
