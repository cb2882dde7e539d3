/** Why something is missing: the problem's sentence, what to do, and the id under which the log has it. */
import type { Failure } from '../service/failure.ts'
import { serviceBase } from '../root.ts'
import { Copy } from './copy.tsx'
import './problem.css'

interface Props {
  readonly failure: Failure
  /** Offered if another try may succeed. */
  readonly again?: (() => void) | undefined
}

export function Problem({ failure, again }: Props) {
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
