/** The events of a subject, each with what it changed since the one before (PROTOCOL §11.4). */
import { parseEventJson } from '../events/event-json.ts'
import type { StoredEvent } from '../events/event-log.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import { changesText } from './changes-text.ts'
import { represent } from './representation/representation.ts'
import type { Representation } from './representation/representation.ts'
import { freeEvents } from './run.ts'
import type { EventRun, NoRoom, TakeBytes } from './run.ts'

/**
 * Both payloads of a change are in the form that the reader sees: what it is not given is in no change either. The run ends before its last
 * event if there is no room for more changes. `before`: the event before the first, of those that the reader sees. All are freed.
 */
export async function withChanges<Reason>(
  run: EventRun,
  before: StoredEvent | undefined,
  form: Representation | undefined,
  take: TakeBytes<Reason>,
): Promise<EventRun | NoRoom<Reason>> {
  const events: StoredEvent[] = []
  let previous = before === undefined ? undefined : parseEventJson(textOf(shown(before, form))).payload
  let reason: Reason | undefined
  for (const event of run.events) {
    const json = shown(event, form)
    const { payload } = parseEventJson(textOf(json))
    const changes = Buffer.from(`,${changesText(previous, payload)}}`)
    reason = take(changes.byteLength)
    if (reason !== undefined) break
    events.push({ ...event, json: Buffer.concat([json.subarray(0, -1), changes]) })
    previous = payload
    await yieldForStep()
  }
  freeEvents(before === undefined ? run.events : [before, ...run.events])
  if (reason === undefined) return { ...run, events, before }
  const last = events.at(-1)
  return last === undefined
    ? { kind: 'noRoom', reason }
    : { ...run, events, before, next: last.sequenceNumber }
}

function shown(event: StoredEvent, form: Representation | undefined): Uint8Array {
  return form === undefined ? event.json : represent(Buffer.from(event.json), form)
}

function textOf(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()
}
