/**
 * An answer for a view. It is requested when the view appears, again when the operation changes, and automatically after the service was
 * away.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { isSeen } from '../state/clock.ts'
import { call } from './call.ts'
import type { Operation } from './operation.ts'
import { restAfter } from './failure.ts'
import type { Failure } from './failure.ts'

export interface LiveAnswer<T> {
  /** The last answer of this path, also while the next one is requested. */
  readonly value: T | undefined
  /** Why the last request had no answer. */
  readonly failure: Failure | undefined
  readonly isAsking: boolean
  /** When `value` came, in milliseconds. */
  readonly answeredAt: number | undefined
  readonly askAgain: () => void
}

interface Held<T> {
  readonly path: string
  readonly value: T | undefined
  readonly failure: Failure | undefined
  readonly isAsking: boolean
  readonly answeredAt: number | undefined
}

interface AnswerOptions {
  /** Ask again this long after each answer, while the tab is visible. */
  readonly everyMs?: number
}

/** `undefined`: nothing is requested yet. */
export function useAnswer<T>(
  operation: Operation<T> | undefined,
  { everyMs }: AnswerOptions = {},
): LiveAnswer<T> {
  const path = `${operation?.tenant ?? ''} ${operation?.path ?? ''}`
  const key = JSON.stringify(operation)
  const none = { path, value: undefined, failure: undefined, isAsking: true, answeredAt: undefined }
  const [held, hold] = useState<Held<T>>(none)
  const [turn, setTurn] = useState(0)
  const current = useRef(operation)
  current.current = operation

  useEffect(() => {
    const { current: asked } = current
    if (asked === undefined) return undefined
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    hold((before) => (before.path === path ? { ...before, isAsking: true } : none))
    async function ask(operationToAsk: Operation<T>): Promise<void> {
      const outcome = await call(operationToAsk, { signal: controller.signal })
      if (outcome.kind === 'stopped') return
      if (outcome.kind === 'answer') {
        const { value } = outcome
        hold({ path, value, failure: undefined, isAsking: false, answeredAt: Date.now() })
      }
      if (outcome.kind === 'failure') {
        const { failure } = outcome
        hold((before) => ({ ...before, failure, isAsking: false }))
      }
      const restMs = outcome.kind === 'failure' ? restAfter(outcome.failure) : everyMs
      if (restMs !== undefined) timer = setTimeout(() => void askWhenSeen(operationToAsk), restMs)
    }
    function askWhenSeen(operationToAsk: Operation<T>): Promise<void> | undefined {
      if (isSeen.peek()) return ask(operationToAsk)
      timer = setTimeout(() => void askWhenSeen(operationToAsk), 500)
      return undefined
    }
    void ask(asked)
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [key, turn, everyMs])

  return { ...(held.path === path ? held : none), askAgain: () => setTurn((before) => before + 1) }
}

/** An action behind a button: it runs once at a time, shows its failure, and runs again after the user has signed in again. */
export interface Action<T> {
  /** The last answer; of an operation without one, only `isDone`. */
  readonly done: T | undefined
  readonly isDone: boolean
  readonly failure: Failure | undefined
  readonly isBusy: boolean
  /** The door asks for the key again. After that, call `run` once more. */
  readonly needsKey: boolean
  readonly run: (operation: Operation<T>) => Promise<void>
  readonly runAgain: () => void
}

export function useAction<T>(): Action<T> {
  const [done, setDone] = useState<{ readonly value: T }>()
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
    if (outcome.kind === 'answer') setDone({ value: outcome.value })
  }
  return {
    done: done?.value,
    isDone: done !== undefined,
    failure,
    isBusy,
    needsKey: failure?.code === 'console_needs_fresh_sign_in',
    run,
    runAgain: () => {
      if (last !== undefined) void run(last)
    },
  }
}
