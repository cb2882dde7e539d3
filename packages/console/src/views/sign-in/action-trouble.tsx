/** Why something was not done, and the key where the door asks for it. */
import { Problem } from '../../parts/problem.tsx'
import { KeyForm } from './sign-in-view.tsx'
import type { Action } from '../../service/use-action.ts'

export function ActionTrouble<T>({ action }: { readonly action: Action<T> }) {
  if (action.trouble === undefined) return null
  return (
    <>
      <Problem trouble={action.trouble} />
      {action.needsKey && <KeyForm action="Continue" onDone={action.runAgain} />}
    </>
  )
}
