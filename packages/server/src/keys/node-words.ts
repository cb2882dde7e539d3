/** What all threads of a node know about it, in memory that they share. */

export interface NodeWords {
  /** How many nodes share the rates of keys, this one included (D10). At least 1. */
  nodes: number
  /** True when clients with valid keys came through a proxy while the node trusts none. */
  readonly ignoresProxy: boolean
  /** Notes that such clients came. True for the first thread that notes it. */
  noteIgnoredProxy(): boolean
}

/** The memory to pass to each thread. */
export function nodeMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

export function nodeWords(memory: SharedArrayBuffer = nodeMemory()): NodeWords {
  const words = new Int32Array(memory)
  return {
    get nodes() {
      return Math.max(1, Atomics.load(words, 0))
    },
    set nodes(count) {
      Atomics.store(words, 0, count)
    },
    get ignoresProxy() {
      return Atomics.load(words, 1) === 1
    },
    noteIgnoredProxy: () => Atomics.exchange(words, 1, 1) === 0,
  }
}
