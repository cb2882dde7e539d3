/** Why an action failed, with a field for the key if the door asks for it. */
import { useState } from 'preact/hooks'
import { Problem } from '../../parts/answer.tsx'
import type { Action } from '../../service/use-answer.ts'
import { signedIn } from '../../session/session.ts'
import { KeyForm } from './sign-in-view.tsx'

export function ActionFailure<T>({ action }: { readonly action: Action<T> }) {
  if (action.failure === undefined) return null
  return (
    <>
      <Problem failure={action.failure} />
      {action.needsKey && <SignInAgain action={action} />}
    </>
  )
}

/**
 * A key that is pasted here continues at once. After a link that was opened in another tab, the user has to press a button first, because
 * it may have been somebody else.
 */
function SignInAgain<T>({ action }: { readonly action: Action<T> }) {
  const { freshUntil } = signedIn()
  const [before] = useState(freshUntil)
  if (freshUntil === before) return <KeyForm action="Continue" onDone={action.runAgain} />
  return (
    <button type="button" class="main" disabled={action.isBusy} onClick={action.runAgain}>
      Continue
    </button>
  )
}
