/** One try: a message signed and posted, and how that is logged. */
import type { Delivery, Lease } from './endpoint.ts'
import { messageHeaders } from './message.ts'
import type { Message } from './message.ts'
import type { TryOutcome } from './plan.ts'
import { keptAnswer, outcomeOf } from './receiver.ts'
import type { KeptAnswers, Receiver } from './receiver.ts'
import type { ViewEvent } from './waiting-rows.ts'

export interface TryParts {
  readonly lease: Pick<Lease, 'endpoint'>
  readonly receiver: Receiver
  /** Those that sign now. */
  readonly secrets: () => readonly string[]
  readonly answers: KeptAnswers
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

interface Tried {
  readonly outcome: TryOutcome
  readonly delivery: Delivery
}

/** `event`: left out for what is no event of the feed. Never rejects: a receiver that cannot be reached is an outcome. */
export async function tryOnce(
  { lease: { endpoint }, receiver, secrets, answers, clock }: TryParts,
  message: Message,
  event: ViewEvent | undefined,
): Promise<Tried> {
  const { endpointId, settings } = endpoint
  const atMs = clock()
  const beganMs = performance.now()
  const headers = messageHeaders(message, secrets(), atMs)
  const timeoutMs = settings.timeoutSeconds * 1_000
  const answer = await receiver.post({ headers, body: message.body, timeoutMs })
  const outcome = outcomeOf(answer)
  const delivery = {
    endpointId,
    atMs,
    messageId: message.id,
    event,
    outcome: outcome.kind,
    status: answer.kind === 'answered' ? answer.status : undefined,
    tookMs: performance.now() - beganMs,
    answer: keptAnswer(answer, answers),
  }
  return { outcome, delivery }
}
