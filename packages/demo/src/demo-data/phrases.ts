/**
 * Writes texts from the phrases in `data/words.json`. In a phrase, `{name}` stands for a fact or a phrase of the list
 * of that name, `{a:name}` puts "a" or "an" before it, and `^` after the brace makes the first letter a capital.
 */
import { marketData } from './load-data.ts'
import type { Random } from './random.ts'

/** What is known about the home, by name; facts come before lists of the same name. */
export type Facts = Readonly<Record<string, string>>

interface Slot {
  readonly name: string
  readonly article: boolean
  readonly capital: boolean
}

/** A phrase cut at its slots: texts and slots in turn. */
type Phrase = readonly (string | Slot)[]

const compiled = new Map<string, readonly Phrase[]>()

/** One phrase of a list, filled in. Throws a RangeError for a list that does not exist. */
export function phrase(random: Random, list: string, facts: Facts): string {
  return fill(random, random.pick(phrasesOf(list)), facts)
}

/** Up to `count` different phrases of a list, filled in. */
export function phrases(random: Random, list: string, count: number, facts: Facts): string[] {
  return random.sample(phrasesOf(list), count).map((chosen) => fill(random, chosen, facts))
}

function fill(random: Random, parts: Phrase, facts: Facts): string {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      let words = facts[part.name] ?? phrase(random, part.name, facts)
      // "the station and the station": a list has several phrases, so a second try nearly always differs.
      if (facts[part.name] === undefined && text.includes(words)) words = phrase(random, part.name, facts)
      if (part.article) words = `${articleOf(words)} ${words}`
      text += part.capital ? words.charAt(0).toUpperCase() + words.slice(1) : words
    }
  }
  return text
}

/** By sound: "a one bedroom flat", "a useful room", "an eight bedroom house". */
function articleOf(words: string): 'a' | 'an' {
  return /^(?:[aeiou])/i.test(words) && !/^(?:one|use|uni[^n])/i.test(words) ? 'an' : 'a'
}

function phrasesOf(list: string): readonly Phrase[] {
  let found = compiled.get(list)
  if (found === undefined) {
    const texts = marketData().words[list]
    if (texts === undefined) throw new RangeError(`No list of phrases is called ${list}`)
    found = texts.map(compile)
    compiled.set(list, found)
  }
  return found
}

function compile(text: string): Phrase {
  return text
    .split(/(\{[^}]+\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const slot = /^\{(\^?)(a:)?(\w+)\}$/.exec(part)
      if (slot === null) return part
      return { name: slot[3] ?? '', article: slot[2] !== undefined, capital: slot[1] === '^' }
    })
}
