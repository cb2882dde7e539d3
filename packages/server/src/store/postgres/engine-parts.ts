/** The parts that the verbs of one open database share: those of the log, and the audit. */
import { auditRows } from '../../audit/changes.ts'
import { insertAudit } from '../../audit/store.ts'
import { logParts } from '../../events/postgres/log-parts.ts'
import type { LogParts, LogSettings } from '../../events/postgres/log-parts.ts'
import { sqlOn } from '../../sql/postgres.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { FeedKey } from '../../events/feed-key.ts'

export interface EngineParts extends LogParts {
  readonly note: NoteChanges
  /** These feeds have changed: tells everybody who watches them, here and on the other nodes. */
  readonly changed: (keys: readonly FeedKey[]) => void
}

export function engineParts(settings: LogSettings): EngineParts {
  const parts = logParts(settings)
  const { feedStates, changes, watching, givenMs } = parts
  return {
    ...parts,
    async note(session, made, actor) {
      if (made.length === 0) return
      await sqlOn(session).rows(insertAudit(auditRows(made, actor, givenMs() ?? Date.now())))
    },
    changed(keys) {
      feedStates.forget(keys)
      changes.send(keys)
      for (const key of keys) watching.notify(key)
    },
  }
}
