/** A room of limited size that one tenant cannot fill: however much it sends, there is room for the others. */

export interface FairRoom {
  /** Adds to the tenant's share; false: there is no room, and nothing was added. */
  enter(tenantId: string, size: number): boolean
  /** Removes from the tenant's share. */
  leave(tenantId: string, size: number): void
  /** The sum of all shares. */
  held(): number
}

/**
 * A tenant may hold as much as is left free beside it: one alone half of the room, each of *n* tenants that send
 * without end 1/(n + 1) of it. As much again is then free for a new tenant, and the tenants need not be counted
 * beforehand. The first entry into an empty room may have any size: it was limited earlier.
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
