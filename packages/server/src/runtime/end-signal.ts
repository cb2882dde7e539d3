/**
 * A light abort signal. A long-poll needs two of them per event, and Node's `AbortSignal` is a whole `EventTarget`: with a thousand waiting
 * readers, the garbage collector noticed.
 */

/** The part of `AbortSignal` that waiting code uses, so an `AbortSignal` fits too. */
export interface EndSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export class EndController implements EndSignal {
  #isAborted = false
  readonly #listeners = new Set<() => void>()

  get aborted(): boolean {
    return this.#isAborted
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }

  /** Calls each listener once. Listeners must not throw. */
  abort(): void {
    if (this.#isAborted) return
    this.#isAborted = true
    const called = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of called) listener()
  }
}

/** Resolves when its own waker, which it adds to these, is called; when the signal is aborted; and after the time given. */
export function untilWoken(wakers: Set<() => void>, atMostMs: number, signal?: EndSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      wakers.delete(end)
      resolve()
    }
    const timer = setTimeout(end, Math.max(1, atMostMs))
    signal?.addEventListener('abort', end)
    wakers.add(end)
  })
}
