/**
 * A source of chance that gives the same numbers for the same seed on every machine (Doty-Humphrey's sfc32,
 * seeded with FNV-1a). Good enough for stories, never for secrets.
 */
export interface Random {
  /** 0 (included) to 1 (excluded), in steps of 2^-32. */
  fraction(): number
  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number
  /** True with this probability, 0 to 1. */
  chance(probability: number): boolean
  /** One element; throws a RangeError when the list is empty. */
  pick<T>(list: readonly T[]): T
  /** Up to `count` different elements, in a new order. */
  sample<T>(list: readonly T[], count: number): T[]
  /** This many lower-case hexadecimal digits. */
  hex(digits: number): string
}

export function randomOf(seed: string): Random {
  let a = hashText(seed, 0x811c9dc5)
  let b = hashText(seed, 0x9e3779b9)
  let c = hashText(seed, 0x85ebca6b)
  let counter = 1

  function bits(): number {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  // Seeds that differ in one character start alike; twelve rounds mix them.
  for (let round = 0; round < 12; round += 1) bits()

  const fraction = () => bits() / 2 ** 32
  const integer = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1))
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick(list) {
      const element = list[integer(0, list.length - 1)]
      if (element === undefined) throw new RangeError('Nothing to pick from')
      return element
    },
    sample(list, count) {
      const rest = [...list]
      return Array.from({ length: Math.min(count, rest.length) }).flatMap(() =>
        rest.splice(integer(0, rest.length - 1), 1),
      )
    },
    hex(digits) {
      let text = ''
      while (text.length < digits) text += bits().toString(16).padStart(8, '0')
      return text.slice(0, digits)
    },
  }
}

/** FNV-1a over UTF-16 code units. */
function hashText(text: string, start: number): number {
  let hash = start
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash | 0
}
