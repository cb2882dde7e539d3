/**
 * Signals to those that wait that something has ended. Each waiting request needs two of these for each event, and Node's `AbortSignal`
 * is a whole `EventTarget`.
 */

/** An `AbortSignal` is one as well. */
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

  get signal(): EndSignal {
    return this
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }

  /** Calls each listener once. None may throw. */
  abort(): void {
    if (this.#isAborted) return
    this.#isAborted = true
    const called = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of called) listener()
  }
}
