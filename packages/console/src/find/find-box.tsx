/** `/` or Ctrl K: paste anything and land there. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { Problem } from '../parts/answer.tsx'
import { hrefOf } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { call } from '../service/call.ts'
import type { Failure } from '../service/failure.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { agencyOf } from '../views/open-paths.ts'
import { distinctPaths, nowhereYet, planFind, reachText, recognise, searchEverywhere } from './look-up.ts'
import type { FindPlan, Found, Reach, Send } from './look-up.ts'

const restMs = 200

export function FindBox({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const agency = agencyOf(signedIn().key, chosenTenant.value)
  const plan = useMemo(() => planFind(recognise(text), signedIn().key, agency), [text])
  const { found, failure, isAsking, reach, searchFurther } = useFound(plan)
  return (
    <Dialog title="Find anything" onClose={onClose}>
      <Picker
        label="An id, number, key, postcode, street or name"
        text={text}
        onText={setText}
        choices={found.map(({ kind, name, path }) => ({ kind, name, href: hrefOf(path) }))}
        onChosen={onClose}
      >
        {failure !== undefined && <Problem failure={failure} />}
      </Picker>
      <p class="quiet" role="status">
        {statusOf(text, found.length, isAsking)}
      </p>
      {reach.of > 0 && (
        <p class="quiet">
          {reachText(reach)}{' '}
          {reach.next !== null && !isAsking && (
            <button type="button" onClick={searchFurther}>
              Search further
            </button>
          )}
        </p>
      )}
      {plan.left !== undefined && <p class="quiet">{plan.left}</p>}
    </Dialog>
  )
}

function statusOf(text: string, count: number, isAsking: boolean): string {
  if (isAsking) return 'Searching …'
  if (text.trim() === '')
    return 'Paste an id, a number, a key or a postcode, or type a part of a street or name.'
  return count === 0 ? 'No results.' : ''
}

interface Results {
  readonly found: readonly Found[]
  readonly failure: Failure | undefined
  readonly isAsking: boolean
  readonly reach: Reach
}

const noResults: Results = { found: [], failure: undefined, isAsking: false, reach: nowhereYet }

/** What the plan finds: known results at once, the others as they come, and near ones before those of other agencies. */
function useFound(plan: FindPlan) {
  const [results, setResults] = useState<Results>(noResults)
  const running = useRef(new AbortController())
  const { everywhere } = plan

  async function search(controller: AbortController, from: Reach): Promise<void> {
    const { signal } = controller
    const send: Send = (operation) => call(operation, { signal })
    const add = (part: Partial<Results>): void => {
      if (!signal.aborted) setResults((before) => ({ ...before, ...part }))
    }
    const failure =
      everywhere === undefined
        ? undefined
        : await searchEverywhere(send, everywhere, from, (reach) => add({ reach }))
    add({ isAsking: false, ...(failure && { failure }) })
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
      const failure = answers.find((answer) => 'kind' in answer)
      setResults((before) => ({ ...before, found: [...found, ...plan.found], failure }))
      await search(controller, nowhereYet)
    }, restMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [plan])

  return {
    ...results,
    found: distinctPaths([...results.found, ...results.reach.found]),
    searchFurther: (): void => {
      setResults((before) => ({ ...before, isAsking: true }))
      void search(running.current, results.reach)
    },
  }
}
