/** Turns the errors of PostgreSQL and of the connection into sentences. */
import { DatabaseError } from 'pg'
import { plainText } from '@property-events/protocol'
import { TablesAway, TablesRefusal } from './refusal.ts'

/** SQLSTATEs and errors of the network after which the same may work in a moment: lost, busy, full, a standby. */
const away = /^(08|57P0|57014|53|55P03|40P01|40001|25006|58030)/
const networkAway = /^(ECONN|EPIPE$|ETIMEDOUT$|ENETUNREACH$|EHOSTUNREACH$|EAI_AGAIN$|ENOTFOUND$|ENOENT$)/
const awayTexts =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded|Query read timeout)/

/** A `TablesAway` if waiting may help, a `TablesRefusal` if the operator can do something, otherwise the error as it is. */
export function postgresError(shown: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TablesRefusal) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = plainText(error.message === '' ? code : error.message)
  const isAway =
    error instanceof DatabaseError ? away.test(code) : networkAway.test(code) || awayTexts.test(error.message)
  if (isAway) {
    return new TablesAway(
      `${shown} cannot be used at the moment (${words}). What was written before is whole.`,
      {
        cause: error,
      },
    )
  }
  const remedy = remedyOf(code)
  return remedy === undefined ? error : new TablesRefusal(`${shown}: ${words}. ${remedy}`, { cause: error })
}

function remedyOf(code: string): string | undefined {
  switch (code) {
    case '28P01':
    case '28000':
      return 'Check user and password in the address, or in PGUSER and PGPASSWORD.'
    case '3D000':
      return 'Create the database first (createdb), or name another one.'
    case '3F000':
      return 'Create the schema first, or name another one with --schema.'
    case '42501':
      return 'The user needs the right to create tables in the schema, once, and then owns them: GRANT USAGE, CREATE ON SCHEMA … TO …;'
    default:
      return undefined
  }
}
