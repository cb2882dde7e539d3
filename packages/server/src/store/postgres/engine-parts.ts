/** The parts that the verbs of one open database share: those of the log, and the audit. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { auditRows } from '../../audit/changes.ts'
import { insertAudit } from '../../audit/store.ts'
import { logParts } from '../../events/postgres/log-parts.ts'
import type { LogParts, LogSettings } from '../../events/postgres/log-parts.ts'
import { sqlOn } from '../../sql/postgres.ts'
import type { NoteChanges } from '../../sql/postgres.ts'

export interface EngineParts extends LogParts {
  readonly note: NoteChanges
}

export function engineParts(settings: LogSettings): EngineParts {
  const parts = logParts(settings)
  return { ...parts, note: changeNoter(parts.given) }
}

/** `given`: replaces the node's clock, for tests. */
function changeNoter(given: () => Ticks | undefined): NoteChanges {
  return async (session, changes, actor) => {
    if (changes.length === 0) return
    const ticks = given()
    const nowMs = ticks === undefined ? Date.now() : millisecondsOfTicks(ticks)
    await sqlOn(session).rows(insertAudit(auditRows(changes, actor, nowMs)))
  }
}
