/** Signs in with a pasted key or link. A link that is opened signs in before this appears. */
import { useState } from 'preact/hooks'
import { Problem } from '../../parts/answer.tsx'
import { keyFault, loginOf } from '../../session/pasted-proof.ts'
import { signIn } from '../../session/session.ts'
import type { Failure } from '../../service/failure.ts'
import './sign-in.css'

interface Props {
  /** Why the session before ended, or the link was refused. */
  readonly why: Failure | undefined
}

export function SignInView({ why }: Props) {
  return (
    <main class="sign-in">
      <h1>Property Events</h1>
      {why !== undefined && <Problem failure={why} />}
      <KeyForm action="Sign in" />
      <details>
        <summary>No key? Sign in with a link</summary>
        <p>
          On the machine of the service, <code>property-events console</code> prints a link that signs in
          once. Each browser needs a link of its own.
        </p>
      </details>
    </main>
  )
}

interface KeyFormProps {
  readonly action: string
  /** Called once it has worked. */
  readonly onDone?: () => void
}

/** Also used when the door asks for the key again. It accepts a link instead. What is pasted is sent once and stored nowhere. */
export function KeyForm({ action, onDone }: KeyFormProps) {
  const [key, setKey] = useState('')
  const [failure, setFailure] = useState<Failure>()
  const [fault, setFault] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    const text = key.trim()
    const login = loginOf(text)
    const found = login === undefined ? keyFault(text) : undefined
    setFault(found)
    setFailure(undefined)
    if (found !== undefined || isAsking) return
    setAsking(true)
    const refusal = await signIn(login === undefined ? { key: text } : { login })
    setAsking(false)
    setFailure(refusal)
    if (refusal !== undefined) return
    setKey('')
    onDone?.()
  }
  return (
    <form class="key-form" onSubmit={(event) => void submit(event)} noValidate>
      <label htmlFor="key">Key</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        spellcheck={false}
        placeholder="pev_…"
        value={key}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : 'key-fault'}
        onInput={({ currentTarget }) => setKey(currentTarget.value)}
      />
      {fault !== undefined && (
        <p id="key-fault" class="fault" role="alert">
          {fault}
        </p>
      )}
      {failure !== undefined && <Problem failure={failure} />}
      <button class="main" type="submit" disabled={isAsking}>
        {isAsking ? 'Waiting for the service …' : action}
      </button>
    </form>
  )
}
