/** Rounds in which all threads of a node forget series of segments before their bytes are overwritten (D17). */
import type { MessagePort } from 'node:worker_threads'
import type { SegmentId } from './segment-id.ts'

export interface ForgetRounds {
  /** Resolves when no thread uses the series with this prefix any longer. `tell` sends the round to every thread. */
  begin(prefix: string, ports: Iterable<MessagePort>, tell: (round: number) => void): Promise<void>
  /** The thread has forgotten the series. Without a round: the thread has ended. */
  forgottenBy(port: MessagePort, round?: number): void
  /** True while a thread may still use the series that is being forgotten, so nothing must be added to it. */
  isForgetting(id: SegmentId): boolean
}

interface Round {
  readonly prefix: string
  /** Threads that may still use the series. */
  readonly remembering: Set<MessagePort>
  readonly end: () => void
}

export function createForgetRounds(): ForgetRounds {
  const rounds = new Map<number, Round>()
  let last = 0

  function endIfForgotten(number: number, { remembering, end }: Round): void {
    if (remembering.size > 0) return
    rounds.delete(number)
    end()
  }

  return {
    begin(prefix, ports, tell) {
      return new Promise((resolve) => {
        last += 1
        const round: Round = { prefix, remembering: new Set(ports), end: resolve }
        rounds.set(last, round)
        tell(last)
        endIfForgotten(last, round)
      })
    },
    forgottenBy(port, only) {
      for (const [number, round] of rounds) {
        if (only !== undefined && only !== number) continue
        round.remembering.delete(port)
        endIfForgotten(number, round)
      }
    },
    isForgetting: ({ series }) => rounds.values().some(({ prefix }) => series.startsWith(prefix)),
  }
}
