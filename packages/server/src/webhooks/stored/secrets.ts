/** Secrets of endpoints, as whoever replaces a pepper or looks for a fault reads them. */
import { defineWrite, statement } from '../../sql/database.ts'
import type { StoreAccess } from '../../sql/database.ts'
import { secretOf } from '../endpoint-rows.ts'
import type { SecretRow } from '../endpoint-rows.ts'
import type { OwnedSecret, WebhookStore } from '../endpoint.ts'

/** Those that sign, or may sign again: of endpoints whose key is not revoked. For inspections, which have no store. */
export const secretsInUse = `SELECT w.endpoint_id AS "endpointId", s.sealed, s.pepper_id AS "pepperId"
  FROM webhook_secret AS s JOIN webhook AS w USING (endpoint_no) JOIN key AS k USING (key_id)
  WHERE k.revoked_ms IS NULL ORDER BY w.endpoint_no`

/** A row of `secretsInUse`. */
export type SecretInUse = Pick<OwnedSecret, 'endpointId' | 'sealed' | 'pepperId'>

const secretsAfter = statement<SecretRow & { readonly endpoint_id: string }>(
  'webhook-secrets-after',
  `SELECT s.*, w.endpoint_id FROM webhook_secret AS s JOIN webhook AS w USING (endpoint_no)
    WHERE s.secret_id > $1 ORDER BY s.secret_id LIMIT $2`,
)
const reseal = statement(
  'webhook-reseal',
  'UPDATE webhook_secret SET sealed = $3, pepper_id = $4 WHERE secret_id = $1 AND pepper_id = $2',
)

const resealSecret = defineWrite(
  'webhook-reseal',
  async (
    tx,
    ...[secretId, from, { sealed, pepperId }]: Parameters<WebhookStore['reseal']>
  ): Promise<void> => {
    await tx.rows(reseal(secretId, from, sealed, pepperId))
  },
)

export function secretStore({ read, write }: StoreAccess): Pick<WebhookStore, 'secrets' | 'reseal'> {
  return {
    async secrets(after, limit) {
      const rows = await read.rows(secretsAfter(after, limit))
      return rows.map((row) => ({ ...secretOf(row), endpointId: row.endpoint_id }))
    },
    reseal: (secretId, from, to) => write(resealSecret, secretId, from, to),
  }
}
