/**
 * Buffers that are used again. A fresh 350 kB buffer for every page halves the rate of pages: the allocation is larger
 * than V8's young generation takes, so each is mapped, zeroed, faulted in and unmapped.
 */

/** A buffer of at least the wanted size, for one answer. */
export interface Lease {
  readonly bytes: Buffer
  /** Gives the buffer back, once nobody reads it any more. Calling it twice is harmless. */
  readonly release: () => void
}

export interface BufferPool {
  take(byteLength: number): Lease
}

const smallestBytes = 64 * 1_024

/** `idleBytes`: what may lie unused in the pool. Sizes are powers of two, so that few kinds are kept. */
export function createBufferPool(idleBytes: number): BufferPool {
  const idle = new Map<number, Buffer[]>()
  let idleTotal = 0
  return {
    take(byteLength) {
      const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(byteLength)))
      const known = idle.get(size)?.pop()
      if (known !== undefined) idleTotal -= size
      // Not from Node's shared slab: a small piece would keep a whole slab alive.
      const buffer = known ?? Buffer.allocUnsafeSlow(size)
      let released = false
      return {
        bytes: buffer.subarray(0, byteLength),
        release() {
          if (released) return
          released = true
          if (idleTotal + size > idleBytes) return
          const list = idle.get(size)
          if (list === undefined) idle.set(size, [buffer])
          else list.push(buffer)
          idleTotal += size
        },
      }
    },
  }
}
