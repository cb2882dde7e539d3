import { runSilenceMs } from '../ledger-store.ts'
import type { LedgerStore, SentOfQuery, SentPiece, SentQuery } from '../ledger-store.ts'
import { joinRanges } from '../number-ranges.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryLedger(store: MemoryStore): LedgerStore {
  return {
    async add(pieces) {
      const { sent } = openState(store)
      for (const piece of pieces) {
        const name = nameOf(piece)
        const ranges = joinRanges(sent.get(name)?.ranges ?? [], piece.ranges)
        sent.set(name, { ...piece, ranges })
      }
    },
    async mark({ runId, beganMs, throughMs, ended }) {
      const { runs } = openState(store)
      for (const run of runs.values()) {
        const isSilent = run.throughMs < throughMs - runSilenceMs
        if (isSilent && run.lostMs === undefined) runs.set(run.runId, { ...run, lostMs: throughMs })
      }
      if (ended) runs.delete(runId)
      else runs.set(runId, { runId, beganMs, throughMs, lostMs: undefined })
    },
    openRuns: async () => [...openState(store).runs.values()].sort((a, b) => a.beganMs - b.beganMs),
    sent: async (query) => sentPieces([...openState(store).sent.values()], query),
    sentOf: async (query) => piecesOf([...openState(store).sent.values()], query),
    async placesOf({ key, subjectId, after, limit }) {
      const events = feedOf(store, key)?.events ?? []
      const places = events.flatMap((event, index) => {
        const isMeant = event.subjectId === subjectId && index + 1 > after
        return isMeant ? [{ position: index + 1, sequenceNumber: event.sequenceNumber }] : []
      })
      return places.slice(0, limit)
    },
    async subjectsIn({ key, view, range: [first, last] }) {
      const events = feedOf(store, key)?.events ?? []
      return events.flatMap(({ subjectId, sequenceNumber }, index) => {
        const number = view === 'numbers' ? sequenceNumber : index + 1
        return number >= first && number <= last ? [{ number, subjectId }] : []
      })
    },
  }
}

function sentPieces(
  pieces: readonly SentPiece[],
  { keyId, fromHour, toHour, after, limit }: SentQuery,
): readonly SentPiece[] {
  return pieces
    .filter((piece) => piece.keyId === keyId && piece.hour >= fromHour && piece.hour <= toHour)
    .toSorted(compare)
    .filter((piece) => after === undefined || compare(piece, after) > 0)
    .slice(0, limit)
}

function piecesOf(
  pieces: readonly SentPiece[],
  { key, block, fromHour, toHour, after, limit }: SentOfQuery,
): readonly SentPiece[] {
  return pieces
    .filter((piece) => piece.key.tenantId === key.tenantId && piece.key.feed === key.feed)
    .filter((piece) => piece.block === block && piece.hour >= fromHour && piece.hour <= toHour)
    .toSorted(compareByHour)
    .filter((piece) => after === undefined || compareByHour(piece, after) > 0)
    .slice(0, limit)
}

function compareByHour(one: SentPiece, other: SentPiece): number {
  const [a, b] = [one, other].map(({ keyId, view }) => `${keyId} ${view}`)
  return one.hour - other.hour || (a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1)
}

function nameOf({ key, keyId, view, hour, block }: SentPiece): string {
  return [keyId, key.tenantId, key.feed, view, hour, block].join(' ')
}

function compare(one: SentPiece, other: SentPiece): number {
  const [a, b] = [one, other].map(({ key, view }) => `${key.tenantId} ${key.feed} ${view}`)
  if (a !== b) return (a ?? '') < (b ?? '') ? -1 : 1
  return one.hour - other.hour || one.block - other.block
}
