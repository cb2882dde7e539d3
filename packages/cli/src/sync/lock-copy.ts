/**
 * One sync at a time: whatever a second one wrote between a file and the checkpoint of the first would stay wrong for
 * ever.
 */
import { takeFileLock } from '@property-events/server/plain'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

/** Locks a copy, by a file beside it or in it, until this process ends. Throws a `Refusal` when another sync has it. */
export function lockCopy(target: string, lockFile: string): void {
  if (takeLock(lockFile)) return
  throw new Refusal(
    `Another sync is writing to ${plainText(target)}, and two at once would damage the copy. ` +
      'Wait until it has ended, stop it, or name another target.',
  )
}

function takeLock(lockFile: string): boolean {
  try {
    return takeFileLock(lockFile, 0o600) !== undefined
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))) throw error
    throw new Refusal(
      `${plainText(lockFile)} cannot be locked (${plainText(error.message)}), so a second sync could damage the copy. ` +
        'Name another target, on a local disk.',
      { cause: error },
    )
  }
}
