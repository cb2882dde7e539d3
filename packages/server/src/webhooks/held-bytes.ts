/** Bytes of events that all endpoints of a node keep between reading and sending; what has no room is read again. */
export interface HeldBytes {
  take(bytes: number): boolean
  free(bytes: number): void
}

export function heldBytes(mostBytes: number): HeldBytes {
  let left = mostBytes
  return {
    take(bytes) {
      if (bytes > left) return false
      left -= bytes
      return true
    },
    free: (bytes) => void (left += bytes),
  }
}
