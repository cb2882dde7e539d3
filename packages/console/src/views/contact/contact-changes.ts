/**
 * What an event changed in a contact, field by field. Hidden data stays hidden: a change of it cannot be seen, and nothing hints at it.
 */
import { contactLines } from './contact-lines.ts'
import type { ContactLine } from './contact-lines.ts'

/** `undefined`: the field was empty, or is empty now. */
export interface ContactChange {
  /** RFC 6901. */
  readonly pointer: string
  readonly label: string
  readonly was: string | undefined
  readonly is: string | undefined
}

export interface ContactChanges {
  readonly changes: readonly ContactChange[]
  /** Nothing visible is different. */
  readonly isUnchanged: boolean
}

const hidden = '(hidden)'

/** `before`: the contact in the event before; `undefined`: this is the first event. */
export function contactChanges(before: unknown, after: unknown): ContactChanges {
  if (before === undefined) return { changes: [], isUnchanged: false }
  const [was, is] = [linesOf(before), linesOf(after)]
  const changes = [...new Set([...was.keys(), ...is.keys()])].flatMap((pointer): readonly ContactChange[] => {
    const [old, fresh] = [was.get(pointer), is.get(pointer)]
    // A masked value is the same text whatever it hides.
    if (old?.value === fresh?.value) return []
    const label = fresh?.label ?? old?.label ?? pointer
    return [{ pointer, label, was: shown(old), is: shown(fresh) }]
  })
  return { changes, isUnchanged: changes.length === 0 }
}

function linesOf(contact: unknown): ReadonlyMap<string, ContactLine> {
  return new Map(contactLines(contact).lines.map((line) => [line.pointer, line]))
}

function shown(line: ContactLine | undefined): string | undefined {
  return line?.isMasked === true ? hidden : line?.value
}
