/**
 * A map that holds at most `limit` entries and, when there is one too many, drops one that was touched long ago: the one
 * untouched for longest, of those touched since the map was half full. Strangers choose the keys of these maps, so none
 * may grow with what they send.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  /** Reads an entry and counts as touching it. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    // Nothing is near being dropped while half of the map is free, and taking out the only entry of a small Map makes V8
    // allocate a smaller one each time: 4 % of a poll.
    if (value === undefined || this.#entries.size * 2 <= this.#limit) return value
    // A Map keeps the order of insertion: taken out and put back, the entry stands last.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    // As in `get`: an entry keeps its place while half of the map is free.
    if (this.#entries.size * 2 > this.#limit) this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#limit) return
    const oldest = this.#entries.keys().next()
    if (oldest.done !== true) this.#entries.delete(oldest.value)
  }

  /** All of them, without touching any. */
  values(): IterableIterator<Value> {
    return this.#entries.values()
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
