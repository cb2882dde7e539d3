/** What a node does with each relation of the store: the rights that `migrate` gives to the roles of nodes, and that `doctor` looks for. */

const reads = ['SELECT'] as const
const adds = ['SELECT', 'INSERT'] as const
const updates = ['SELECT', 'UPDATE'] as const
const writes = ['SELECT', 'INSERT', 'UPDATE'] as const
const removes = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

type Right = (typeof removes)[number]

/** Every table, view and sequence. Nodes delete no event, key or receipt, but through the functions that delete a tenant. */
export const nodeRights: Readonly<Record<string, readonly Right[]>> = {
  // The store
  store: writes,
  maintenance: removes,
  // Tenants
  tenant: writes,
  leaving_tenant: removes,
  tenant_deletion: writes,
  tenant_deletion_node: removes,
  // Events
  feed: writes,
  event: writes,
  event_id: removes,
  subject: writes,
  view: removes,
  view_entry: removes,
  branch_set: removes,
  branch_of_set: removes,
  branch_latest: removes,
  lost_number: removes,
  answered_until: updates,
  time_reservation: writes,
  // Reading
  moment: removes,
  // Keys
  key: writes,
  key_grant: writes,
  keys_version: reads,
  // Nodes
  node: removes,
  // Erasure
  erasure: writes,
  erasure_node: adds,
  reduced_event: adds,
  erasure_sent: adds,
  erasure_disclosure: adds,
  // Holds
  hold: writes,
  // Restriction
  kept_event: removes,
  restriction: writes,
  // Retention
  retention_rule: removes,
  thin_progress: writes,
  thinned_event: adds,
  thin_turn: updates,
  // Contact expiry
  expiring_contact: removes,
  expiry_progress: writes,
  // The log of what was sent
  sent: writes,
  sent_run: writes,
  // Consumers
  consumer: removes,
  consumer_view: removes,
  consumer_sent: removes,
  consumer_refusal: removes,
  consumer_result: removes,
  consumer_result_change: removes,
  // Webhooks
  webhook: removes,
  webhook_secret: removes,
  webhook_waiting: removes,
  webhook_given_up: removes,
  webhook_version: removes,
  webhook_delivery: removes,
  webhook_notice: removes,
  webhook_sender: removes,
  // Silence
  presence: removes,
  silence_turn: updates,
  // Audit
  audit: adds,
  actor_name: removes,
  // Usage
  usage_hour: removes,
  usage_day: removes,
  // Publications
  published: removes,
  refusal: removes,
  refusal_hour: removes,
  // Console sessions
  login_link: removes,
  console_session: removes,
}

const rows = Object.entries(nodeRights)

/** Gives them to the roles that default privileges have made nodes of, in the transaction that makes the store. */
export const shareWithNodes = `SELECT share_with_nodes(relation, rights) FROM (VALUES
  ${rows.map(([relation, rights]) => `('${relation}', '${rights.join(', ')}')`).join(', ')}) AS given (relation, rights)`

/** Names the rights that the session's role lacks. Every function is included: a node calls them all, or they call each other. */
export const missingRights = `
  SELECT "right" || ' on ' || relation AS missing
  FROM (VALUES ${rows.flatMap(([relation, rights]) => rights.map((right) => `('${relation}', '${right}')`)).join(', ')})
    AS given (relation, "right")
  WHERE NOT has_table_privilege(to_regclass(relation), "right")
  UNION ALL
  SELECT 'EXECUTE on ' || proname FROM pg_proc
  WHERE pronamespace = current_schema()::regnamespace AND NOT has_function_privilege(oid, 'EXECUTE')
    AND proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('store'))
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')`
