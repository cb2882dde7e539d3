/** The rules of retention in a database, and the turn of the node that thins. The log carries thinning out. */
import { retentionSet } from '../../audit/changes.ts'
import type { Actor } from '../../audit/actor.ts'
import { defineWrite, statement } from '../../sql/database.ts'
import type { Query, StoreAccess } from '../../sql/database.ts'
import { retentionRules, retentionTurnMs } from './retention.ts'
import type { RetentionRule, RetentionRules, TenantRule } from './retention.ts'

interface RuleRow {
  readonly tenant: string
  readonly rule: string
  readonly days: number
}

const allRules = statement<RuleRow>('retention-rules', 'SELECT * FROM retention_rule ORDER BY tenant, rule')
const rulesOf = statement<RuleRow>(
  'retention-rules-of',
  'SELECT * FROM retention_rule WHERE tenant = $1 ORDER BY rule',
)
/** Two changes of one rule come one after the other. */
const lockTenant = statement(
  'retention-tenant',
  'SELECT tenant FROM tenant WHERE tenant = $1 FOR NO KEY UPDATE',
)
const putRule = statement(
  'retention-put',
  `INSERT INTO retention_rule (tenant, rule, days) VALUES ($1, $2, $3)
    ON CONFLICT (tenant, rule) DO UPDATE SET days = excluded.days`,
)
const removeRule = statement('retention-remove', 'DELETE FROM retention_rule WHERE tenant = $1 AND rule = $2')
const take = statement(
  'retention-take-turn',
  `UPDATE thin_turn SET node = $1, until_ms = $2 + ${retentionTurnMs} WHERE node = $1 OR until_ms <= $2 RETURNING node`,
)
const end = statement('retention-end-turn', 'UPDATE thin_turn SET until_ms = 0 WHERE node = $1')

const setRule = defineWrite(
  'retention-set-rule',
  async (
    tx,
    tenantId: string,
    rule: RetentionRule,
    days: number | undefined,
    actor: Actor,
  ): Promise<'done' | 'unknownTenant'> => {
    if ((await tx.rows(lockTenant(tenantId))).length === 0) return 'unknownTenant'
    const present = (await tx.rows(rulesOf(tenantId))).find((row) => row.rule === rule)
    if (present?.days === days) return 'done'
    await tx.rows(days === undefined ? removeRule(tenantId, rule) : putRule(tenantId, rule, days))
    await tx.note(retentionSet(tenantId, rule, days), actor)
    return 'done'
  },
)
const takeTurn = defineWrite('retention-take-turn', async (tx, nodeId: string): Promise<boolean> => {
  return (await tx.rows(turnFor(nodeId, await tx.nowMs()))).length > 0
})
const endTurn = defineWrite('retention-end-turn', async (tx, nodeId: string): Promise<void> => {
  await tx.rows(end(nodeId))
})

/** Takes the turn, or prolongs it. One row if the node has it now. */
export function turnFor(nodeId: string, nowMs: number): Query {
  return take(nodeId, nowMs)
}

export function retentionRuleStore({ read, write }: StoreAccess): RetentionRules {
  return {
    rules: async (tenantId) =>
      (await read.rows(tenantId === undefined ? allRules() : rulesOf(tenantId))).flatMap(ruleOf),
    setRule: (tenantId, rule, days, actor) => write(setRule, tenantId, rule, days, actor),
    takeTurn: (nodeId) => write(takeTurn, nodeId),
    endTurn: (nodeId) => write(endTurn, nodeId),
  }
}

/** A rule that this program does not know is left out. */
function ruleOf({ tenant: tenantId, rule: name, days }: RuleRow): readonly TenantRule[] {
  const rule = retentionRules.find((known) => known === name)
  return rule === undefined ? [] : [{ tenantId, rule, days }]
}
