/** Endpoints of another store, as a copy takes them. */
import { webhookTaken } from '../../audit/webhook-changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { defineWrite, rowsFrom, statement } from '../../sql/database.ts'
import type { StoreAccess } from '../../sql/database.ts'
import type { CopiedEndpoint, EndpointRecord, WebhookStore } from '../endpoint.ts'
import { insertEndpoint, lockedEndpoint, removeEndpoint } from '../endpoint-rows.ts'
import { putWaiting, waitingRow } from './waiting-store.ts'

const addGivenUp = statement(
  'webhook-copy-given-up',
  (dialect) => `INSERT INTO webhook_given_up (endpoint_no, sequence, subject, at_ms)
    SELECT endpoint_no, sequence, subject, at_ms FROM ${rowsFrom('$1', {
      endpoint_no: 'bigint',
      sequence: 'bigint',
      subject: 'logId',
      at_ms: 'bigint',
    })(dialect)}`,
)

const take = defineWrite('webhook-take', async (tx, copied: CopiedEndpoint, actor: Actor): Promise<void> => {
  const { endpoint, waiting, givenUp } = copied
  const before = await lockedEndpoint(tx, endpoint.endpointId)
  if (before !== undefined) {
    if (!isCopied(before.record)) return
    await removeEndpoint(tx, before.endpointNo)
  }
  const isOfOperator = [endpoint, before?.record].some(
    (one) => one?.state.kind === 'paused' && one.state.reason === 'operator',
  )
  const reason = isOfOperator ? 'operator' : 'copied'
  const paused = { kind: 'paused', reason, sinceMs: await tx.nowMs() } as const
  const [row] = await tx.rows(insertEndpoint({ ...endpoint, state: paused }))
  if (row === undefined) throw new Error('a copied endpoint was not stored')
  const number = row.endpoint_no
  if (waiting.length > 0) {
    await tx.rows(putWaiting(JSON.stringify(waiting.map((one) => waitingRow(number, one)))))
  }
  if (givenUp.length > 0) {
    const rows = givenUp.map(({ sequenceNumber, subjectId, atMs }) => {
      return { endpoint_no: number, sequence: sequenceNumber, subject: subjectId, at_ms: atMs }
    })
    await tx.rows(addGivenUp(JSON.stringify(rows)))
  }
  if (before === undefined) await tx.note(webhookTaken(endpoint, paused), actor)
})

/** Nobody here has enabled it, or paused it themselves. */
function isCopied({ state }: EndpointRecord): boolean {
  return state.kind === 'paused' && state.reason !== 'asked'
}

export function copiedStore({ write }: StoreAccess): Pick<WebhookStore, 'take'> {
  return { take: (copied, actor) => write(take, copied, actor) }
}
