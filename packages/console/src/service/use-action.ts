/** Something that somebody does with a button: once at a time, with its trouble, and again after signing in anew. */
import { useState } from 'preact/hooks'
import { call } from './call.ts'
import type { Operation } from './operation.ts'
import type { Trouble } from './trouble.ts'

export interface Action<T> {
  readonly done: T | undefined
  readonly trouble: Trouble | undefined
  readonly isBusy: boolean
  /** The door asks for the key again: after that, `run` once more. */
  readonly needsKey: boolean
  readonly run: (operation: Operation<T>) => Promise<void>
  readonly runAgain: () => void
}

export function useAction<T>(): Action<T> {
  const [done, setDone] = useState<T>()
  const [trouble, setTrouble] = useState<Trouble>()
  const [last, setLast] = useState<Operation<T>>()
  const [isBusy, setBusy] = useState(false)
  async function run(operation: Operation<T>): Promise<void> {
    if (isBusy) return
    setLast(operation)
    setBusy(true)
    const outcome = await call(operation)
    setBusy(false)
    setTrouble(outcome.kind === 'trouble' ? outcome.trouble : undefined)
    if (outcome.kind === 'answer') setDone(() => outcome.value)
  }
  return {
    done,
    trouble,
    isBusy,
    needsKey: trouble?.code === 'console_needs_fresh_sign_in',
    run,
    runAgain: () => {
      if (last !== undefined) void run(last)
    },
  }
}
