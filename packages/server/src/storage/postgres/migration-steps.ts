/** What a step to the next schema is made of, and how each part is run: shortly in a transaction, or long beside the work of nodes. */
import { readFileSync } from 'node:fs'
import type { Session, Statement } from './connection.ts'

/** One step to the next version. */
export interface Migration {
  /** Run in one transaction that may hold a table for itself, so none of it may take longer than a moment. */
  readonly files: readonly URL[]
  /**
   * What takes as long as the store is large. Each runs after that is committed, while nodes publish and read, and is begun
   * again by the next start when it was cut off.
   */
  readonly afterwards?: readonly Afterwards[]
}

export type Afterwards = NewIndex | Backfill | Repeated

export interface NewIndex {
  readonly kind: 'index'
  readonly name: string
  /** What stands after `CREATE INDEX name`. */
  readonly on: string
}

/** Statements in a transaction of their own that lock no more than rows, and do no harm when they are run again. */
export interface Backfill {
  readonly kind: 'backfill'
  readonly name: string
  readonly file: URL
}

/** A statement that does some of the work and answers in `done` how much; asked again, each time a commit of its own, until that is 0. */
export interface Repeated {
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
  else if (step.kind === 'repeated') await repeat(session, step)
  else await session.script(readFileSync(step.file, 'utf8'))
}

/** Beside nodes that publish and read. Outside a transaction: PostgreSQL builds an index concurrently nowhere else. */
export async function runBeside(session: Session, step: Afterwards): Promise<void> {
  if (step.kind === 'index') return buildBeside(session, step)
  if (step.kind === 'repeated') return repeat(session, step)
  await inTransaction(session, () => session.script(readFileSync(step.file, 'utf8')))
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

/** An attempt that was cut off leaves an index that is kept up to date and never used. */
async function buildBeside(session: Session, { name, on }: NewIndex): Promise<void> {
  const broken = await session.query(readBroken, [name])
  if (broken.length > 0) await session.script(`DROP INDEX CONCURRENTLY ${name}`)
  await session.script(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ${on}`)
}
