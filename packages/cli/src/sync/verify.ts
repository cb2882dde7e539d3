/** `sync --verify`: where a copy differs from its feed (PROTOCOL §14.3). */
import { createClient } from '@property-events/client'
import type { Comparison, Difference } from '@property-events/client'
import type { Output } from '../output.ts'
import { connectionRefusal } from '../service-client.ts'
import { plainText, tableText } from '../terminal-text.ts'
import type { SyncRun } from './run-sync.ts'
import { runSync } from './run-sync.ts'

/** The most differences that are shown; `--json` shows all. */
const mostShown = 100

/**
 * Compares, brings the copy up to date, and compares again: a difference that is the same both times is not just something being
 * published. True if nothing differs.
 */
export async function verifyCopy(run: SyncRun): Promise<boolean> {
  const first = await compare(run)
  if (first.differences.length === 0) return reportDifferences(run.output, first, [])
  await runSync(run)
  const second = await compare(run)
  const before = new Set(first.differences.map((one) => JSON.stringify(one)))
  return reportDifferences(
    run.output,
    second,
    second.differences.filter((one) => before.has(JSON.stringify(one))),
  )
}

async function compare({ address, feed, type, keeper }: SyncRun): Promise<Comparison> {
  const client = createClient({ ...address, feed })
  try {
    return await client.compare({ held: keeper.held(), apiEventType: type })
  } catch (error) {
    throw connectionRefusal(error, address.baseUrl)
  }
}

async function reportDifferences(
  output: Output,
  { shown, held }: Comparison,
  differences: readonly Difference[],
): Promise<boolean> {
  const isSame = differences.length === 0
  if (output.json) {
    await output.writeJson({ verified: isSame, shown, held, differences })
    return isSame
  }
  const number = (value: number): string => value.toLocaleString('en-GB')
  if (isSame) {
    await output.write(`The copy matches its feed: ${number(held)} with the same numbers.\n`)
    return true
  }
  const rows = differences.slice(0, mostShown).map((one) => [plainText(one.subjectId), words(one)])
  await output.write(tableText(['reference', 'what differs'], rows))
  const further = differences.length - rows.length
  if (further > 0) output.say(`And ${number(further)} more; --json lists all of them.`)
  output.say(
    `${number(differences.length)} ${differences.length === 1 ? 'difference' : 'differences'} from the feed. Create the copy again in an empty folder, file or set of tables: no later event ` +
      'repairs what others have changed here, or what was lost.',
  )
  return false
}

function words(one: Difference): string {
  if (one.kind === 'missing') return `not in the copy; the feed shows it since event ${one.sequenceNumber}`
  if (one.kind === 'surplus') return `in the copy with event ${one.heldNumber}; the feed does not show it`
  const held = one.heldNumber === 0 ? 'cannot be read' : `in the copy with event ${one.heldNumber}`
  return `${held}; the feed has event ${one.sequenceNumber}`
}
