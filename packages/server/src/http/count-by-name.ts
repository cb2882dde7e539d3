/** How many of something each name has at once, such as answers under way of a key. */
export interface CountByName {
  /** Counts one more and returns what takes it away again, which may be called twice; `undefined`: the name has as many as it may. */
  enter(name: string): (() => void) | undefined
}

export function countByName(most: number): CountByName {
  const counts = new Map<string, number>()
  return {
    enter(name) {
      const count = counts.get(name) ?? 0
      if (count >= most) return undefined
      counts.set(name, count + 1)
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        const left = (counts.get(name) ?? 1) - 1
        if (left === 0) counts.delete(name)
        else counts.set(name, left)
      }
    },
  }
}
