/** `/` or Ctrl K: paste anything and land there. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { hrefOf } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { call } from '../service/call.ts'
import type { Trouble } from '../service/trouble.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { distinctPlaces, lookEverywhere, nowhereYet, reachText } from './everywhere.ts'
import type { Reach } from './everywhere.ts'
import { planFind } from './look-up.ts'
import type { FindPlan, Found, Send } from './look-up.ts'
import { recognise } from './recognise.ts'
import './find.css'

const restMs = 200

export function FindBox({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, choose] = useState(0)
  const { route } = useLocation()
  const plan = useMemo(() => planFind(recognise(text), signedIn().key, chosenTenant.value), [text])
  const { found, trouble, isAsking, reach, lookFurther } = useFound(plan)
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
      {reach.of > 0 && (
        <p class="quiet">
          {reachText(reach)}{' '}
          {reach.next !== null && !isAsking && (
            <button type="button" onClick={lookFurther}>
              Look further
            </button>
          )}
        </p>
      )}
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
  readonly reach: Reach
}

const noResults: Results = { found: [], trouble: undefined, isAsking: false, reach: nowhereYet }

/** What the plan finds: known results at once, the others as they come, and near ones before those of other agencies. */
function useFound(plan: FindPlan) {
  const [results, setResults] = useState<Results>(noResults)
  const running = useRef(new AbortController())
  const { everywhere } = plan

  async function look(controller: AbortController, from: Reach): Promise<void> {
    const { signal } = controller
    const send: Send = (operation) => call(operation, { signal })
    const add = (part: Partial<Results>): void => {
      if (!signal.aborted) setResults((before) => ({ ...before, ...part }))
    }
    const trouble =
      everywhere === undefined
        ? undefined
        : await lookEverywhere(send, everywhere, from, (reach) => add({ reach }))
    add({ isAsking: false, ...(trouble && { trouble }) })
  }

  useEffect(() => {
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    const isAsking = plan.lookUps.length > 0 || everywhere !== undefined
    setResults({ ...noResults, found: plan.found, isAsking })
    const timer = setTimeout(async () => {
      const send: Send = (operation) => call(operation, { signal })
      const answers = await Promise.all(plan.lookUps.map((lookUp) => lookUp(send)))
      if (signal.aborted) return
      const found = answers.flatMap((answer) => ('kind' in answer ? [] : answer))
      const trouble = answers.find((answer) => 'kind' in answer)
      setResults((before) => ({ ...before, found: [...found, ...plan.found], trouble }))
      await look(controller, nowhereYet)
    }, restMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [plan])

  return {
    ...results,
    found: distinctPlaces([...results.found, ...results.reach.found]),
    lookFurther: (): void => {
      setResults((before) => ({ ...before, isAsking: true }))
      void look(running.current, results.reach)
    },
  }
}
