import { millisecondsOfTicks } from '@property-events/protocol'
import type { PublishOutcome } from '../feed/publish.ts'
import type { Refusal } from './problem.ts'

/** Why nothing was stored, as a problem. `place` is the pointer of an event of the request by its index. */
export function refusalOfPublish(
  outcome: Exclude<PublishOutcome, { kind: 'receipt' }>,
  place: (index: number) => string,
): Refusal {
  switch (outcome.kind) {
    case 'invalid':
      return { code: 'invalid_body', errors: outcome.errors }
    case 'idConflict': {
      const message = `The id ${outcome.id} is taken by an event with other content. Send it with another id.`
      return {
        code: 'id_conflict',
        errors: [{ pointer: `${place(outcome.index)}/id`, code: 'id_conflict', message }],
      }
    }
    case 'unknownSubject': {
      const message = `The feed has no event of ${outcome.subjectId}.`
      const pointer = `${place(outcome.index)}/remove/agentRef`
      return { code: 'unknown_subject', errors: [{ pointer, code: 'unknown_subject', message }] }
    }
    case 'clockBehind': {
      const aheadSeconds =
        (millisecondsOfTicks(outcome.headCreated) - millisecondsOfTicks(outcome.now)) / 1_000
      // Publishing goes on once the head is 5 minutes ahead (D25); asking more than once an hour is of no use.
      const waitSeconds = Math.min(3_600, Math.max(1, Math.ceil(aheadSeconds - 300)))
      return { code: 'clock_behind', headers: { 'retry-after': String(waitSeconds) } }
    }
    case 'epochRequired':
      return { code: 'epoch_required' }
    case 'overloaded':
      return { code: 'overloaded' }
    case 'unknownFeed':
      return { code: 'key_disabled' }
  }
}
