/** What the in-memory engine keeps about consumers, and about the silence of consumers and publishers. */
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
  /** Consumers by their names. */
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
