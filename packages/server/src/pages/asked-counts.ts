/**
 * How often each of very many things was asked for of late, in a table of fixed size: a key's count is that of its place, which it
 * may share. A map of the keys themselves held thousands for a second each: long enough for V8 to take them for old, and to let
 * tens of megabytes of them pile up.
 */

export interface AskedCounts {
  /** Counts once more, and says how often that makes it: at least as often as the key was asked for. */
  add(key: string): number
  /** Counts it at least so often. */
  raise(key: string, times: number): void
  forget(key: string): void
  halve(): void
  clear(): void
}

/** 128 kB. Between two halvings a few thousand keys are counted, of which one in ten or so finds its place taken. */
const places = 2 ** 16
const mostTimes = 2 ** 16 - 1

export function createAskedCounts(): AskedCounts {
  const counts = new Uint16Array(places)
  return {
    add(key) {
      const place = placeOf(key)
      const times = Math.min(mostTimes, (counts[place] ?? 0) + 1)
      counts[place] = times
      return times
    },
    raise(key, times) {
      const place = placeOf(key)
      counts[place] = Math.min(mostTimes, Math.max(times, counts[place] ?? 0))
    },
    forget(key) {
      counts[placeOf(key)] = 0
    },
    halve() {
      for (let place = 0; place < places; place += 1) counts[place] = (counts[place] ?? 0) >> 1
    },
    clear: () => void counts.fill(0),
  }
}

/** FNV-1a over the key's characters, its upper half folded into the place. */
function placeOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  return (hash ^ (hash >>> 16)) & (places - 1)
}
