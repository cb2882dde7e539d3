/**
 * Adds what is noted of requests to the store, some hundred rows with each statement. Rows that somebody else holds, or that the store
 * refuses, keep back those of their statement alone.
 */
import { StorageFailure } from './storage-errors.ts'

/** What has not been added, and why. */
interface Remainder<Row> {
  readonly rows: readonly Row[]
  readonly failure: unknown
}

/** After this many statements have failed on their own rows, the whole table may be locked: each of them has waited a second. */
const mostFailures = 3

/** `rest` is called between two statements. `undefined`: all were added. */
export async function addInParts<Row>(
  rows: readonly Row[],
  perStatement: number,
  add: (some: readonly Row[]) => Promise<void>,
  rest: () => Promise<void>,
): Promise<Remainder<Row> | undefined> {
  const left: Row[] = []
  let failures = 0
  let failure: unknown
  for (let from = 0; from < rows.length; from += perStatement) {
    const some = rows.slice(from, from + perStatement)
    try {
      if (from > 0) await rest()
      await add(some)
    } catch (error) {
      failure ??= error
      failures += 1
      if (!isOfRows(error) || failures === mostFailures) {
        return { rows: [...left, ...rows.slice(from)], failure }
      }
      left.push(...some)
    }
  }
  return left.length === 0 ? undefined : { rows: left, failure }
}

/** The store works, and has stored nothing of these rows: others may succeed. */
function isOfRows(error: unknown): boolean {
  return error instanceof StorageFailure && (error.code === 'feed_locked' || error.scope === 'batches')
}
