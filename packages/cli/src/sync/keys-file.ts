/** The file of `sync --keys`: a name and a key on each line. */
import { readFileSync, statSync } from 'node:fs'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

export interface TenantKey {
  /** Under which the tenant's listings are kept. */
  readonly name: string
  readonly key: string
}

interface KeysFile {
  readonly tenants: readonly TenantKey[]
  /** Other users of the machine can read it. */
  readonly isOpen: boolean
}

/** The most faults that are reported at once. */
const maxFaults = 10

/** Blank lines, and lines that begin with `#`, are ignored. Throws a `Refusal` that names every wrong line and repeats no key. */
export function readKeysFile(path: string): KeysFile {
  const { mode } = statSync(path)
  const isOpen = process.platform !== 'win32' && (mode & 0o077) !== 0
  return { tenants: tenantsIn(readFileSync(path, 'utf8'), path), isOpen }
}

export function tenantsIn(text: string, path: string): readonly TenantKey[] {
  const lineOfName = new Map<string, number>()
  const tenants: TenantKey[] = []
  const faults: string[] = []
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const words = line.trim().split(/\s+/)
    const [name = '', key = ''] = words
    const earlier = lineOfName.get(name)
    if (words.length !== 2)
      faults.push(`Line ${index + 1} has ${words.length} words; a line is a name and a key.`)
    else if (!isTenantName(name)) faults.push(`Line ${index + 1}: ${nameRule}`)
    else if (!/^[\x21-\x7e]{1,200}$/.test(key))
      faults.push(`Line ${index + 1}: the key has characters that no key has.`)
    else if (earlier !== undefined) faults.push(`Line ${index + 1} has the name of line ${earlier}.`)
    else {
      lineOfName.set(name, index + 1)
      tenants.push({ name, key })
    }
  }
  if (faults.length > maxFaults)
    faults.splice(maxFaults, Infinity, `And ${faults.length - maxFaults} more lines.`)
  if (faults.length > 0) throw new Refusal(`${plainText(path)}:\n${faults.join('\n')}`)
  if (tenants.length === 0) throw new Refusal(`${plainText(path)} has no line with a name and a key.`)
  return tenants
}

export const nameRule = 'a name is 1 to 63 letters, digits and . _ -, and begins with a letter or a digit.'

export function isTenantName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)
}
