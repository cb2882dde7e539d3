/** A bounded room that one tenant cannot fill: however much one of them sends, there is room for the others. */

export interface FairRoom {
  /** Takes what comes in; false: there is no room for it, and nothing was taken. */
  enter(tenantId: string, size: number): boolean
  /** What has entered is gone. */
  leave(tenantId: string, size: number): void
  /** All that is in the room. */
  held(): number
}

/**
 * A tenant may hold as much as stays free beside it: one alone half of the room, each of *n* tenants that send without end
 * 1/(n + 1) of it. As much again is then free for a tenant that comes new, and nobody has to be counted beforehand. What
 * comes into an empty room may be as large as it likes: its size has been limited before.
 */
export function fairRoom(size: number): FairRoom {
  const heldBy = new Map<string, number>()
  let held = 0
  return {
    enter(tenantId, wanted) {
      const own = (heldBy.get(tenantId) ?? 0) + wanted
      if (held > 0 && own > size - held - wanted) return false
      heldBy.set(tenantId, own)
      held += wanted
      return true
    },
    leave(tenantId, gone) {
      const own = (heldBy.get(tenantId) ?? 0) - gone
      if (own > 0) heldBy.set(tenantId, own)
      else heldBy.delete(tenantId)
      held -= gone
    },
    held: () => held,
  }
}
