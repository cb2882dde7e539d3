/** What the in-memory engine keeps of consumers, and of their silence and that of publishers. */
import { firstTurn } from '../storage.ts'
import type {
  Acknowledgement,
  ConsumerName,
  ConsumerRefusal,
  ConsumerResult,
  KeptReading,
  Presence,
  ReadPart,
  SentMinute,
  TurnState,
} from '../storage.ts'

/** A row of a minute. */
export interface MemorySentMinute extends ConsumerName, ReadPart, SentMinute {}

export interface ConsumersState {
  /** Consumers by their names, as all that is kept of them. */
  readonly consumers: Map<string, ConsumerName>
  readonly readings: Map<string, KeptReading>
  readonly sentMinutes: Map<string, MemorySentMinute>
  readonly refusals: Map<string, ConsumerRefusal>
  readonly acknowledgements: Map<string, Acknowledgement>
  readonly results: Map<string, ConsumerResult>
  /** By their names. */
  readonly presences: Map<string, Presence>
  silenceTurn: TurnState
}

export function newConsumersState(): ConsumersState {
  return {
    consumers: new Map(),
    readings: new Map(),
    sentMinutes: new Map(),
    refusals: new Map(),
    acknowledgements: new Map(),
    results: new Map(),
    presences: new Map(),
    silenceTurn: firstTurn,
  }
}
