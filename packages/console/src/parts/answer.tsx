/** Shows an answer, or why it is not there yet, so that no view is blank. */
import type { ComponentChildren } from 'preact'
import type { LiveAnswer } from '../service/use-answer.ts'
import './empty.css'
import type { Failure } from '../service/failure.ts'
import { serviceBase } from '../root.ts'
import { Copy } from './copy.tsx'
import './problem.css'

interface Props<T> {
  readonly of: LiveAnswer<T>
  /** As in "Waiting for the keys …". */
  readonly what: string
  readonly children: (value: T) => ComponentChildren
}

/** An older answer stays while a newer one is requested. If that fails, the failure appears above it. */
export function Answer<T>({ of: { value, failure, askAgain }, what, children }: Props<T>) {
  return (
    <>
      {failure !== undefined && <Problem failure={failure} again={askAgain} />}
      {value !== undefined && children(value)}
      {value === undefined && failure === undefined && <Waiting what={what} />}
    </>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
  /** It takes the place of a whole view, and is therefore its heading. */
  readonly isView?: boolean
}

/** There is nothing, and rightly so: a sentence, and what can be done. */
export function Empty({ title, children, isView }: EmptyProps) {
  const Title = isView === true ? 'h1' : 'p'
  return (
    <div class="empty">
      <Title class="title">{title}</Title>
      {children}
    </div>
  )
}

/** Something is loading, and this says what: no view waits without saying for what. */
export function Waiting({ what }: { readonly what: string }) {
  return (
    <p class="waiting" role="status">
      Loading {what} …
    </p>
  )
}

interface ProblemProps {
  readonly failure: Failure
  /** Offered if another try may succeed. */
  readonly again?: (() => void) | undefined
}

/** Why something is missing: the problem's sentence, what to do, and the id under which the log has it. */
export function Problem({ failure, again }: ProblemProps) {
  const { sentence, remedy, faults, code, requestId } = failure
  return (
    <section class="problem" role="alert">
      <p class="sentence">{sentence}</p>
      {faults.length > 0 && (
        <ul>
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
      <p>{remedy}</p>
      <p class="actions">
        {again !== undefined && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
        {code !== undefined && <a href={`${serviceBase}/docs#${code}`}>{code} in the reference</a>}
        {requestId !== undefined && (
          <>
            <span class="quiet">
              Request id <code>{requestId}</code>
            </span>
            <Copy text={requestId} name="Copy the request id" />
          </>
        )}
      </p>
    </section>
  )
}
