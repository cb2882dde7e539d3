/** Shows an answer, or why it is not there yet, so that no view is blank. */
import type { ComponentChildren } from 'preact'
import type { LiveAnswer } from '../service/use-answer.ts'
import { Waiting } from './empty.tsx'
import { Problem } from './problem.tsx'

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
