/** Reads a systemd unit as far as the project's own units go: sections, repeated keys, specifiers, words with quotes. */
import { readFileSync } from 'node:fs'

export interface Unit {
  /** The values of a key in the order of the file; none where it is not given. */
  all(section: string, key: string): readonly string[]
  /** The last value, which is the one that counts. */
  last(section: string, key: string): string | undefined
}

export function readUnit(path: string): Unit {
  const values = new Map<string, string[]>()
  let section = ''
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, heading] = /^\[(\w+)\]$/.exec(line) ?? []
    if (heading !== undefined) {
      section = heading
      continue
    }
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined) throw new Error(`${path}: what is "${line}"?`)
    const name = `${section}.${key}`
    values.set(name, [...(values.get(name) ?? []), value])
  }
  const all = (of: string, key: string) => values.get(`${of}.${key}`) ?? []
  return { all, last: (of, key) => all(of, key).at(-1) }
}

/** A command line in words, with quotes taken off and `$$` for a dollar sign. Variables are refused: no unit uses them. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => {
    const word = double ?? single ?? plain ?? ''
    if (/(?<!\$)\$(?!\$)/.test(word)) throw new Error(`a variable in ${line}`)
    return word.replaceAll('$$', '$')
  })
}
