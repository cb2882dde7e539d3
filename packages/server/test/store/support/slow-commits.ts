import Database from 'better-sqlite3'

/**
 * Makes every stored event take its time between stamp and commit: a trigger, put into the store's file through a
 * connection of its own, that counts. Removed again by the function returned.
 */
export function slowCommits(file: string, milliseconds: number): () => void {
  const db = new Database(file)
  const countTo = (steps: number): string =>
    `SELECT count(*) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${steps}) SELECT i FROM n)`
  const trial = 100_000
  const started = performance.now()
  db.prepare(countTo(trial)).get()
  const steps = Math.ceil((trial * milliseconds) / (performance.now() - started))
  db.exec(`CREATE TRIGGER slow AFTER INSERT ON event BEGIN ${countTo(steps)}; END`)
  return () => {
    db.exec('DROP TRIGGER slow')
    db.close()
  }
}
