import { isDeepStrictEqual } from 'node:util'
import { serialize } from 'node:v8'
import { maintenanceSet } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { settingsRefusal } from '../settings.ts'
import type { WantedSettings } from '../settings.ts'
import { StorageFailure, StorageRefusal } from '../storage.ts'
import type { Actor, Maintenance, StorageEngine } from '../storage.ts'
import { watchers } from '../watchers.ts'
import type { Watchers } from '../watchers.ts'
import { memoryAdmin } from './admin.ts'
import { memoryAudit, noteChanges } from './audit.ts'
import { memoryConsoleSessions } from './console-sessions.ts'
import { memoryConsumers } from './consumers.ts'
import { acceptHistory, epochNeed, startEpoch, waitingFeeds } from './epochs.ts'
import { memoryBranchViews } from './branch-views.ts'
import { memoryDeletions } from './deletions.ts'
import { memoryErasures } from './erasures.ts'
import { memoryEvents } from './events.ts'
import { memoryExpiry } from './expiry.ts'
import { memoryHolds } from './holds.ts'
import { memoryKeys } from './keys.ts'
import { memoryLeaving } from './leaving.ts'
import { memoryLedger } from './ledger.ts'
import { memoryMoments } from './moments.ts'
import { memoryMoves } from './moves.ts'
import { memoryNames } from './names.ts'
import { memoryNodes } from './nodes.ts'
import { memoryPublications } from './publications.ts'
import { memoryRestrictions } from './restrictions.ts'
import { memoryRetention } from './retention.ts'
import { memorySilence } from './silence.ts'
import { forgetSkippedIds } from './skipped-ids.ts'
import { newState, openState } from './state.ts'
import type { MemoryState, MemoryStore } from './state.ts'
import { exportRecords, importRecords } from './transfer.ts'
import { memoryUsage } from './usage.ts'

export interface MemoryOptions {
  readonly kind: 'memory'
  /** A store of this engine, to begin from a copy of. */
  readonly copyOf?: StorageEngine
}

/** What the open stores hold, for copies of them. */
const states = new WeakMap<StorageEngine, MemoryState>()

/** The reference engine: everything in this process, nothing on disk. */
export async function openMemory(
  options: MemoryOptions,
  wanted: WantedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): Promise<StorageEngine> {
  const copied = options.copyOf && states.get(options.copyOf)
  const state = copied ? { ...structuredClone(copied), needsEpoch: true } : newState(settingsOf(wanted))
  const refusal = settingsRefusal(state.settings, wanted)
  if (refusal !== undefined) throw refusal
  const store = storeOf(state, clock)
  const watching = watchers()

  const close = async (): Promise<void> => {
    store.closed = true
  }
  const engine: StorageEngine = {
    settings: state.settings,
    ...memoryAdministration(store, watching),
    nodes: memoryNodes(store),
    moments: memoryMoments(store),
    moves: memoryMoves(store, (key) => watching.tell(key)),
    ...memoryNotes(store),
    consumers: memoryConsumers(store),
    erasures: memoryErasures(store, clock, overrideClockCheck, watching),
    holds: memoryHolds(store),
    restrictions: memoryRestrictions(store, clock, overrideClockCheck, watching),
    expiry: memoryExpiry(store, clock),
    branchViews: memoryBranchViews(store, clock),
    retention: memoryRetention(store, clock, watching),
    events: memoryEvents(store, watching, clock, overrideClockCheck),
    startEpoch: async (continueAfter, actor, feeds) => {
      startEpoch(store, continueAfter, actor, feeds)
      watching.tell(undefined)
    },
    acceptHistory: async (actor) => acceptHistory(store, actor),
    epochNeed: async () => epochNeed(openState(store)),
    waitingFeeds: async () => waitingFeeds(openState(store)),
    maintenance: async () => openState(store).maintenance,
    setMaintenance: async (maintenance, actor) => setMaintenance(store, maintenance, actor),
    // A process that holds the store in memory cannot lose any of it.
    onLoss: () => () => undefined,
    // Bytes that are in no row exist only in memory that will be collected.
    rewrite: async () => void openState(store),
    exportRecords: async (after, take) => exportRecords(store, after, take),
    importRecords: async (records, actor) => {
      try {
        importRecords(store, records, actor)
        watching.tell(undefined)
      } catch (cause) {
        throw cause instanceof StorageFailure ? cause : new StorageFailure('storage_unavailable', cause)
      }
    },
    forgetSkippedIds: async () => forgetSkippedIds(openState(store), readClock(clock)),
    heldSnapshots: async () => {
      openState(store)
      return []
    },
    // Nothing waits, is retried or works in the background here.
    observe: () => () => undefined,
    work: () => ({ listening: undefined, reservedMs: undefined, connections: [] }),
    ping: async () => {
      openState(store)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  states.set(engine, state)
  return engine
}

function storeOf(state: MemoryState, clock: SharedClock | undefined): MemoryStore {
  const served = { nodes: new Map(), links: new Map(), sessions: new Map() }
  return { state, clock, ...served, thinning: undefined, closed: false }
}

/** Tenants and keys, and who changed them. */
function memoryAdministration(
  store: MemoryStore,
  watching: Watchers,
): Pick<StorageEngine, 'keys' | 'admin' | 'audit' | 'names' | 'leaving' | 'deletions' | 'consoleSessions'> {
  return {
    keys: memoryKeys(store),
    admin: memoryAdmin(store),
    audit: memoryAudit(store),
    names: memoryNames(store),
    leaving: memoryLeaving(store),
    deletions: memoryDeletions(store, (key) => watching.tell(key)),
    consoleSessions: memoryConsoleSessions(store),
  }
}

/** What is noted about requests. */
function memoryNotes(
  store: MemoryStore,
): Pick<StorageEngine, 'ledger' | 'usage' | 'publications' | 'silence'> {
  return {
    ledger: memoryLedger(store),
    usage: memoryUsage(store),
    publications: memoryPublications(store),
    silence: memorySilence(store),
  }
}

function setMaintenance(store: MemoryStore, maintenance: Maintenance | undefined, actor: Actor): void {
  const state = openState(store)
  if (isDeepStrictEqual(state.maintenance, maintenance)) return
  state.maintenance = maintenance
  noteChanges(store, maintenanceSet(maintenance), actor)
}

function settingsOf({ catalogue, startSequence }: WantedSettings): MemoryState['settings'] {
  if (catalogue !== undefined) {
    return { storeId: crypto.randomUUID(), catalogue, startSequence: startSequence ?? 0 }
  }
  throw new StorageRefusal('not_a_store', 'A new store needs a catalogue of event types; name one.')
}

/** Everything that the store holds. */
export function memoryBytes(store: StorageEngine): Buffer {
  return serialize(states.get(store))
}
