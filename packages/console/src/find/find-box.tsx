/** `/` or Ctrl K: paste anything and land there. */
import { useLocation } from 'preact-iso'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { hrefOf } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { call } from '../service/call.ts'
import type { Trouble } from '../service/trouble.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { planFind } from './look-up.ts'
import type { FindPlan, Found } from './look-up.ts'
import { recognise } from './recognise.ts'
import './find.css'

const restMs = 200

export function FindBox({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, choose] = useState(0)
  const { route } = useLocation()
  const plan = useMemo(() => planFind(recognise(text), signedIn().key, chosenTenant.value), [text])
  const { found, trouble, isAsking } = useFound(plan)
  const at = Math.min(chosen, Math.max(0, found.length - 1))

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      choose((at + step + Math.max(1, found.length)) % Math.max(1, found.length))
    }
    const { [at]: target } = found
    if (event.key !== 'Enter' || target === undefined) return
    event.preventDefault()
    onClose()
    route(hrefOf(target.place))
  }

  return (
    <Dialog title="Find anything" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="An id, number, key, postcode, street or name"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={found.length === 0 ? undefined : `found-${at}`}
        autoComplete="off"
        spellcheck={false}
        placeholder="An id, number, key, postcode, street or name"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          choose(0)
        }}
        onKeyDown={press}
      />
      {trouble !== undefined && <Problem trouble={trouble} />}
      <FoundList found={found} at={at} onClose={onClose} />
      <p class="quiet" role="status">
        {statusOf(text, found.length, isAsking)}
      </p>
      {plan.left !== undefined && <p class="quiet">{plan.left}</p>}
    </Dialog>
  )
}

interface FoundListProps {
  readonly found: readonly Found[]
  readonly at: number
  readonly onClose: () => void
}

function FoundList({ found, at, onClose }: FoundListProps) {
  return (
    <div id="found" class="found" role="listbox" aria-label="Found" hidden={found.length === 0}>
      {found.map(({ kind, name, place }, n) => (
        <a
          key={`${place} ${kind}`}
          id={`found-${n}`}
          role="option"
          aria-selected={n === at}
          tabIndex={-1}
          href={hrefOf(place)}
          onClick={onClose}
        >
          <span class="kind">{kind}</span> {name}
        </a>
      ))}
    </div>
  )
}

function statusOf(text: string, count: number, isAsking: boolean): string {
  if (isAsking) return 'Looking …'
  if (text.trim() === '')
    return 'Paste an id, a number, a key or a postcode, or type a part of a street or name.'
  return count === 0 ? 'Nothing is found.' : ''
}

interface Results {
  readonly found: readonly Found[]
  readonly trouble: Trouble | undefined
  readonly isAsking: boolean
}

/** What the plan finds: at once what is known, the rest as it comes. */
function useFound(plan: FindPlan): Results {
  const [results, setResults] = useState<Results>({ found: [], trouble: undefined, isAsking: false })
  const turn = useRef(0)
  useEffect(() => {
    turn.current += 1
    const { current: own } = turn
    const controller = new AbortController()
    setResults({ found: plan.found, trouble: undefined, isAsking: plan.lookUps.length > 0 })
    const timer = setTimeout(async () => {
      const answers = await Promise.all(
        plan.lookUps.map((lookUp) => lookUp((operation) => call(operation, { signal: controller.signal }))),
      )
      if (own !== turn.current) return
      const found = answers.flatMap((answer) => ('kind' in answer ? [] : answer))
      const trouble = answers.find((answer) => 'kind' in answer)
      setResults({ found: [...found, ...plan.found], trouble, isAsking: false })
    }, restMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [plan])
  return results
}
