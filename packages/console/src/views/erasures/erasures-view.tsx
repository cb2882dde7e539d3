/** Erasures of an agency: what was erased, how far each has got, their receipts, and the form to erase. */
import { useState } from 'preact/hooks'
import type { Erasure } from '@property-events/protocol/wire'
import { places } from '../../base.ts'
import { Answer } from '../../parts/answer.tsx'
import { LocalTime } from '../../parts/age.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Table } from '../../parts/table.tsx'
import { hrefOf } from '../../root.ts'
import { call } from '../../service/call.ts'
import { getErasure, listErasures } from '../../service/operations/erasures.ts'
import type { ErasurePlace } from '../../service/operations/erasures.ts'
import type { Trouble } from '../../service/trouble.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { oneLine } from '../../words/plain.ts'
import type { ViewProps } from '../view.ts'
import { EraseDialog } from './erase-dialog.tsx'
import { reasonWords, receiptFile, stateWords } from './erasure-form.ts'
import '../keys/keys.css'
import '../records.css'

const askAgainMs = 5_000

export function ErasuresView({ parts: { tenantId = '' }, query }: ViewProps) {
  const isAdmin = mayAdminister(signedIn().key, 'admin:erase', tenantId)
  const place: ErasurePlace = { tenantId, door: isAdmin ? 'admin' : 'own' }
  const erasures = useAnswer(listErasures(place, query['after']), { everyMs: askAgainMs })
  const [isErasing, setErasing] = useState(false)
  return (
    <article class="erasures">
      <header>
        <h1>Erasures</h1>
        <button type="button" onClick={() => setErasing(true)}>
          Erase …
        </button>
      </header>
      <Answer of={erasures} what="the erasures">
        {(value) => (
          <>
            {value.erasures.length === 0 ? (
              <Empty title="Nothing was erased." />
            ) : (
              <Erasures place={place} erasures={value.erasures} />
            )}
            {value.next !== null && (
              <a href={hrefOf(places.erasures(tenantId, { after: value.next }))}>Later</a>
            )}
          </>
        )}
      </Answer>
      {isErasing && (
        <EraseDialog
          place={place}
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
  place,
  erasures,
}: {
  readonly place: ErasurePlace
  readonly erasures: readonly Erasure[]
}) {
  return (
    <Table
      caption="Erasures"
      columns={[
        { name: 'Begun', isName: true, cell: ({ begunAt }) => <LocalTime at={begunAt} /> },
        { name: 'Feed', cell: ({ feed }) => feed },
        {
          name: 'Of',
          cell: ({ subjectId, eventId }) => <code>{subjectId ?? `event ${eventId ?? ''}`}</code>,
        },
        { name: 'Why', cell: ({ reason }) => reasonWords(reason) },
        { name: 'Case', isWide: true, cell: ({ caseRef }) => oneLine(caseRef ?? '–') },
        { name: 'Events', isNumber: true, cell: ({ events }) => events },
        { name: 'State', cell: (erasure) => stateWords(erasure) },
        { name: 'Receipt', cell: (erasure) => <Receipt place={place} erasure={erasure} /> },
      ]}
      rows={erasures}
      keyOf={({ id }) => id}
    />
  )
}

/** The present receipt, including those who were sent what was erased. */
function Receipt({ place, erasure }: { readonly place: ErasurePlace; readonly erasure: Erasure }) {
  const [trouble, setTrouble] = useState<Trouble>()
  async function download(): Promise<void> {
    const outcome = await call(getErasure(place, erasure.id))
    setTrouble(outcome.kind === 'trouble' ? outcome.trouble : undefined)
    if (outcome.kind === 'answer') save(receiptFile(outcome.value))
  }
  return (
    <>
      <button type="button" aria-label={`Download the receipt ${erasure.id}`} onClick={() => void download()}>
        Download
      </button>
      {trouble !== undefined && <Problem trouble={trouble} />}
    </>
  )
}

function save({ name, text }: ReturnType<typeof receiptFile>): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
