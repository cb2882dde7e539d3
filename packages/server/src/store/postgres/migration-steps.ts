/** The parts of a step to the next schema, and how each is run: briefly in a transaction, or for a long time while nodes work. */
import { readFileSync } from 'node:fs'
import type { Session, Statement } from '../../sql/postgres/session.ts'

/** One step to the next version. */
export interface Migration {
  /** Run in one transaction that may lock a table, so none of it may take longer than a moment. */
  readonly files: readonly URL[]
  /**
   * Work whose duration grows with the store. Each runs after the transaction is committed, while nodes publish and read, and the next
   * start begins it again if it was interrupted.
   */
  readonly afterwards?: readonly Afterwards[]
}

type Afterwards = NewIndex | Repeated

interface NewIndex {
  readonly kind: 'index'
  readonly name: string
  /** The text after `CREATE INDEX name`. */
  readonly on: string
}

/**
 * A statement that does some of the work and returns in `done` how much; it is repeated, each time in a separate commit, until that is 0.
 */
interface Repeated {
  readonly kind: 'repeated'
  readonly name: string
  readonly text: string
}

const begin: Statement = { name: 'step-begin', text: 'BEGIN' }
const commit: Statement = { name: 'step-commit', text: 'COMMIT' }
const rollback: Statement = { name: 'step-rollback', text: 'ROLLBACK' }

export async function inTransaction<T>(session: Session, run: () => Promise<T>): Promise<T> {
  await session.query(begin, [])
  try {
    const result = await run()
    await session.query(commit, [])
    return result
  } catch (error) {
    await session.query(rollback, []).catch(() => undefined)
    throw error
  }
}

export async function runFiles(session: Session, { files }: Migration): Promise<void> {
  for (const file of files) await session.script(readFileSync(file, 'utf8'))
}

/** In the transaction that makes a store: no other session uses its tables. */
export async function runInside(session: Session, step: Afterwards): Promise<void> {
  if (step.kind === 'index') await session.script(`CREATE INDEX ${step.name} ${step.on}`)
  else await repeat(session, step)
}

/** While nodes publish and read, outside a transaction: PostgreSQL builds an index concurrently nowhere else. */
export function runBeside(session: Session, step: Afterwards): Promise<void> {
  return step.kind === 'index' ? buildBeside(session, step) : repeat(session, step)
}

async function repeat(session: Session, { name, text }: Repeated): Promise<void> {
  for (let done = 1; done > 0;) {
    const [row] = await session.query<{ done: number }>({ name, text }, [])
    done = row?.done ?? 0
  }
}

const readBroken: Statement = {
  name: 'step-broken-index',
  text: 'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
}

/** An interrupted attempt leaves an index that is maintained and never used. */
async function buildBeside(session: Session, { name, on }: NewIndex): Promise<void> {
  const broken = await session.query(readBroken, [name])
  if (broken.length > 0) await session.script(`DROP INDEX CONCURRENTLY ${name}`)
  await session.script(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ${on}`)
}
