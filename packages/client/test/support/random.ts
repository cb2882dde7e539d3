/** A small seeded generator (mulberry32): the same seed gives the same run. */
export interface Random {
  /** From 0 to less than 1. */
  (): number
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number from 0 to less than `below`. */
export function pick(random: Random, below: number): number {
  return Math.floor(random() * below)
}
