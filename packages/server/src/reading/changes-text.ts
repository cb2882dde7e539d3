/** What an event changed, as the members that are put behind its own (PROTOCOL §11.4, §16). */
import { versionChanges } from '@property-events/protocol/plain'
import type { HistoryEvent } from '@property-events/protocol/wire'

/** The most changes of one event to list. */
const mostChanges = 200
/** Beside the values of both payloads there is room for so many characters of pointers. */
const mostPointerCharacters = 20_000

/** `"changes":…` and what goes with it. About as long as both payloads at most. `before`: `undefined` for the first version. */
export function changesText(before: string | undefined, payload: string): string {
  const said: Pick<HistoryEvent, 'changes' | 'changesAbsent'> = versionChanges(before, payload)
  const { changes, changesAbsent } = said
  if (!changes) return `"changes":null,"changesAbsent":"${changesAbsent ?? 'first_version'}"`
  const texts: string[] = []
  let room = (before?.length ?? 0) + payload.length + mostPointerCharacters
  for (const change of changes.slice(0, mostChanges)) {
    // Names can be long, and each change repeats those of its parents.
    if (change.pointer.length > room) break
    const text = JSON.stringify(change)
    room -= text.length
    texts.push(text)
  }
  const more = changes.length - texts.length
  return `"changes":[${texts.join()}]${more === 0 ? '' : `,"moreChanges":${more}`}`
}
