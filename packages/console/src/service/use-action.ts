/** An action behind a button: it runs once at a time, shows its failure, and runs again after the user has signed in again. */
import { useState } from 'preact/hooks'
import { call } from './call.ts'
import type { Operation } from './operation.ts'
import type { Failure } from './failure.ts'

export interface Action<T> {
  readonly done: T | undefined
  readonly failure: Failure | undefined
  readonly isBusy: boolean
  /** The door asks for the key again. After that, call `run` once more. */
  readonly needsKey: boolean
  readonly run: (operation: Operation<T>) => Promise<void>
  readonly runAgain: () => void
}

export function useAction<T>(): Action<T> {
  const [done, setDone] = useState<T>()
  const [failure, setFailure] = useState<Failure>()
  const [last, setLast] = useState<Operation<T>>()
  const [isBusy, setBusy] = useState(false)
  async function run(operation: Operation<T>): Promise<void> {
    if (isBusy) return
    setLast(operation)
    setBusy(true)
    const outcome = await call(operation)
    setBusy(false)
    setFailure(outcome.kind === 'failure' ? outcome.failure : undefined)
    if (outcome.kind === 'answer') setDone(() => outcome.value)
  }
  return {
    done,
    failure,
    isBusy,
    needsKey: failure?.code === 'console_needs_fresh_sign_in',
    run,
    runAgain: () => {
      if (last !== undefined) void run(last)
    },
  }
}
