/**
 * A map with at most `limit` entries. When there is one too many, it drops one that has not been touched for long: of the entries touched
 * since the map was half full, the one untouched for longest. Strangers choose the keys of these maps, so none may grow without a limit.
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
    // While half of the map is free, no entry is near being dropped. Also, removing the only entry of a small Map makes V8 allocate a
    // smaller one each time, which took 4 % of a poll.
    if (value === undefined || this.#entries.size * 2 <= this.#limit) return value
    // A Map keeps the order of insertion, so an entry that is removed and added again comes last.
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

  /** Returns all entries without touching any. */
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
