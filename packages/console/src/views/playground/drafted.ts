/** The property that a draft of one event concerns. */
import { isObject, own } from '../property/diff/equal.ts'
import type { Draft } from './read-draft.ts'

export interface DraftedProperty {
  readonly agentRef: string
  /** Parsed. */
  readonly payload: unknown
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `undefined`: there are several events, or the draft names no property. The payload of an event can be a text. */
export function drafted({
  events,
}: Extract<Draft, { readonly kind: 'events' }>): DraftedProperty | undefined {
  const [event] = events
  if (event === undefined || events.length > 1) return undefined
  const value = event.isPayload || !isObject(event.value) ? event.value : own(event.value, 'payload')
  const payload = typeof value === 'string' ? parsed(value) : value
  const agentRef = isObject(payload) ? own(payload, 'agent_ref') : undefined
  return typeof agentRef === 'string' && uuid.test(agentRef) ? { agentRef, payload } : undefined
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
