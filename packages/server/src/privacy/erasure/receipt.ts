/** An erasure in an answer: what was requested, how far it is, and what it does not reach (PROTOCOL §5.7). */
import type { Erasure as Receipt, ErasureRecipient as RecipientAnswer } from '@property-events/protocol/wire'
import { timeOf } from '../../http/time-of.ts'
import { allAcknowledgedMs } from './erasure-acknowledged.ts'
import type { ErasureRecipient, ErasureRecipients } from './erasure-recipients.ts'
import type { Erasure } from './erasure.ts'

/** What a receipt says besides the erasure. */
export interface ReceiptContext {
  /** When backups of the store were begun, milliseconds since 1970, the newest first. Only recent backups on record are included. */
  readonly backups: () => Promise<readonly number[]>
  /** Who had been sent what the erasure erased; `undefined` if its feed keeps no record of that. */
  readonly recipientsOf: (erasure: Erasure) => Promise<ErasureRecipients | undefined>
}

const backups = {
  code: 'backups',
  detail:
    'Backups that were created before, with the times of those that the store knows of, the newest first. Delete them, or erase again after a restore.',
} as const

/** What no erasure reaches, and what is left to do about each. */
const notCovered = [
  {
    code: 'consumers',
    detail:
      'Copies that consumers have made. Each removes the subject when it reads the closing event; one that keeps the history reads what was reduced.',
  },
  backups,
  {
    code: 'write_ahead_log',
    detail: 'On PostgreSQL, archives of its write-ahead log, and standbys for as long as they lag.',
  },
  {
    code: 'stopped_nodes',
    detail: 'Files of ready-made pages of nodes that do not run. A node drops what is old when it starts.',
  },
  {
    code: 'answers_under_way',
    detail: 'Answers that were being sent to slow clients when the last step was made.',
  },
] as const

const freeSpace = {
  code: 'free_space',
  detail: "Free space of the store's files, until an operator has it rewritten (`compact`).",
} as const

const disk = {
  code: 'disk',
  detail: 'What the disk keeps of blocks that the files of the store have given back to the system.',
} as const

const backupsPerReceipt = 30

/** The receipt of one erasure. From `unreachable` on it has the recipients, because only then are they known for every node. */
export async function wholeReceipt(
  { recipientsOf, backups: backupsOf }: Pick<ReceiptContext, 'recipientsOf' | 'backups'>,
  erasure: Erasure,
): Promise<Receipt> {
  const receipt = erasureReceipt(erasure, await backupsOf())
  if (erasure.unreachableMs === undefined) return receipt
  return { ...receipt, ...recipientMembers(await recipientsOf(erasure)) }
}

function recipientMembers(
  found: ErasureRecipients | undefined,
): Pick<Receipt, 'recipients' | 'unknownTimes'> {
  if (found === undefined) return { recipients: null, unknownTimes: null }
  const unknownTimes = found.unknownTimes.map(({ fromMs, toMs }) => {
    return { from: timeOf(fromMs), to: timeOf(toMs) }
  })
  return { recipients: found.recipients.map(recipientMember), unknownTimes }
}

function recipientMember(recipient: ErasureRecipient): RecipientAnswer {
  const { keyId, label, certainty, sent, toldByMs, consumers } = recipient
  return {
    keyId,
    label,
    certainty,
    events: sent?.events ?? null,
    firstSentAt: timeOf(sent?.firstMs),
    lastSentAt: timeOf(sent?.lastMs),
    toldBy: timeOf(toldByMs),
    acknowledgedAt: timeOf(allAcknowledgedMs(consumers)),
    consumers: consumers.map(({ name, acknowledgedMs }) => ({
      name,
      acknowledgedAt: timeOf(acknowledgedMs),
    })),
  }
}

/** `backupsMs`: when backups were begun, the newest first. */
export function erasureReceipt(erasure: Erasure, backupsMs: readonly number[]): Receipt {
  const { erasureId, key, target, reason, caseRef, receivedOn, actor, state, events, reduced } = erasure
  const { closing, revision, begunMs, reducedMs, unreachableMs, overwrittenMs } = erasure
  const madeAt = backupsMs.filter((ms) => ms < (reducedMs ?? Infinity)).slice(0, backupsPerReceipt)
  return {
    id: erasureId,
    tenantId: key.tenantId,
    feed: key.feed,
    ...(target.kind === 'subject' ? { subjectId: target.subjectId } : { eventId: target.eventId }),
    reason,
    caseRef: caseRef ?? null,
    receivedOn: receivedOn ?? null,
    actor,
    state,
    events,
    reduced,
    closing: closing === undefined ? null : { id: closing.eventId, sequenceNumber: closing.sequenceNumber },
    revision,
    begunAt: timeOf(begunMs),
    reducedAt: timeOf(reducedMs),
    unreachableAt: timeOf(unreachableMs),
    overwrittenAt: timeOf(overwrittenMs),
    notCovered: [state === 'overwritten' ? disk : freeSpace, ...notCovered].map((one) =>
      one === backups ? { ...one, madeAt: madeAt.map((ms) => timeOf(ms)) } : one,
    ),
  }
}
