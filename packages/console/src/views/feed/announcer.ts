/** When to announce live news to screen readers: never twice within five seconds. */

const restMs = 5_000

interface Announcer {
  /** What to say now; `undefined`: nothing, or not yet. */
  sayNow(total: number, nowMs: number): string | undefined
}

/** `total`: how many events the view had when listening began. */
export function createAnnouncer(total: number): Announcer {
  let announced = total
  let announcedAt = Number.NEGATIVE_INFINITY
  return {
    sayNow(now, nowMs) {
      if (now <= announced || nowMs - announcedAt < restMs) return undefined
      const count = now - announced
      announced = now
      announcedAt = nowMs
      return count === 1 ? '1 new event' : `${count} new events`
    },
  }
}
