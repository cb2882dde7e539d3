/** What runs on a connection: statements, and a session that runs them. */
import type { QueryResultRow } from 'pg'

/** A statement that every connection prepares once. Its values are `$1`, `$2`, … */
export interface Statement {
  /** Unique among all statements. */
  readonly name: string
  readonly text: string
  /** `bytes`: in reads, long values of the type `text` come as bytes (long-rows.ts). Left out: all come as texts. */
  readonly longTexts?: 'bytes'
  /** Columns of the type `bigint` come as numbers: for tables that hold nothing beyond 2^53, such as ticks. Left out: as texts. */
  readonly numbers?: true
}

export type Value = string | number | bigint | boolean | null | Uint8Array

/** Rows as node-postgres reads them: `bigint` columns as text, `bytea` as bytes. */
export type Row = QueryResultRow

export interface Session {
  /** The same object for as long as the connection lives. */
  readonly connection: object
  query<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]>
  /** Any number of commands, without values. For migrations. */
  script(text: string): Promise<void>
}
