/**
 * Nodes that hold nothing any more that they read of a feed before an erasure, or before a restriction: both have ids of their own, and
 * are noted in one table.
 */
import { nodeSilenceMs } from '../../nodes/node.ts'

/** Notes a node, `$2`, with a row of the table that has the id `$1`, and what else must hold for it. */
export function noteNode(table: 'erasure' | 'restriction', condition: string): string {
  return `INSERT INTO erasure_node (erasure, node) SELECT ${table}, $2 FROM ${table}
    WHERE ${table} = $1 AND ${condition} ON CONFLICT DO NOTHING`
}

/**
 * The text of a statement on one of these tables, which ends with a condition: every node has said so that has announced itself within
 * the time before `$2`, in milliseconds.
 */
export function onceForgotten(table: 'erasure' | 'restriction', text: string, returning = ''): string {
  return `${text} AND NOT EXISTS (
      SELECT 1 FROM node WHERE seen_ms > CAST($2 AS bigint) - ${nodeSilenceMs} AND NOT EXISTS (
        SELECT 1 FROM erasure_node AS noted WHERE noted.erasure = ${table}.${table} AND noted.node = node.node
      )
    ) ${returning}`
}

/** A column, after the columns of a row: the nodes that have been noted with it. For `nodesOf`. */
export function knowingNodes(table: 'erasure' | 'restriction'): string {
  return `(SELECT string_agg(CAST(noted.node AS text), ' ') FROM erasure_node AS noted WHERE noted.erasure = ${table}.${table}) AS nodes`
}

export function nodesOf({ nodes }: { readonly nodes: string | null }): readonly string[] {
  return nodes?.split(' ') ?? []
}
