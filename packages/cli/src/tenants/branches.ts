/** Branches of an agency: moving its properties from one to another (D23). */
import type { Command } from 'commander'
import { maxBranchLength } from '@property-events/protocol'
import { grantedBranches, moveBranch } from '@property-events/server'
import type { BranchMoveEnd } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { createProgress } from '../progress.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'
import { stopSignal } from '../stop-signal.ts'
import { plainText } from '../terminal-text.ts'

export function addBranches(program: Command, context: CommandContext): void {
  const branches = program
    .command('branches')
    .description('move the properties of one branch to another; works while the service runs')
  addMove(branches, context)
}

function addMove(branches: Command, context: CommandContext): void {
  const command = branches
    .command('move')
    .description('move all published properties of one branch to another')
    .requiredOption('--tenant <tenant>', 'id or name')
    .requiredOption('--from <branch>', 'their current branch_id, exactly as it is published')
    .requiredOption('--to <branch>', 'their new branch_id')
    .option('--dry-run', 'count the properties without changing anything')
  addNote(
    command,
    'Each property moves in one commit: readers of the old branch get a removal, and readers of the new branch the property. Properties are moved 100 at a time; if the move is interrupted, run the same command again. Switch the publisher to the new branch first: whatever it publishes for the old one goes back there.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, async (invocation) => {
    const { settings: reader, flags } = invocation
    const [from, to] = [flagText(flags, 'from') ?? '', flagText(flags, 'to') ?? '']
    if (grantedBranches([to]) === undefined) {
      reader.fault(`--to must be a branch_id of 1 to ${maxBranchLength} characters on one line.`)
    }
    if (from === to) reader.fault('--from and --to are the same branch.')
    const signal = stopSignal()
    await withStore(reader, flags, (store) => move(invocation, store, { from, to, signal }))
  })
}

interface MoveRequest {
  readonly from: string
  readonly to: string
  readonly signal: AbortSignal
}

async function move({ output, flags }: Invocation, store: OpenedStore, asked: MoveRequest): Promise<void> {
  const { storage, actor } = store
  const tenant = await findTenant(store, flagText(flags, 'tenant') ?? '')
  const { tenantId } = tenant
  const dryRun = flags['dryRun'] === true
  if ((await storage.leaving.list()).some((one) => one.tenantId === tenantId))
    throw new Refusal(
      `Tenant "${plainText(tenant.name)}" is leaving, so nothing can be published for it any more.`,
    )
  const progress = createProgress(output, 'properties')
  const steps = moveBranch(storage, { tenantId, ...asked, dryRun, actor })
  let moved = 0
  let step = await steps.next()
  for (; step.done !== true; step = await steps.next()) {
    moved = step.value.moved
    progress.update(step.value.looked, undefined)
  }
  progress.end()
  const end = step.value
  if (end !== 'done') {
    throw new Refusal(
      `${endWords[end]} ${countText(moved)} moved so far. Run the same command again to continue.`,
    )
  }
  const { from, to } = asked
  if (output.json) return output.writeJson({ tenantId, from, to, dryRun, properties: moved })
  const words = `${countText(moved)} ${dryRun ? 'would be moved' : 'moved'} from "${plainText(from)}" to "${plainText(to)}".`
  const hint = moved > 0 ? '' : ' A name must be exactly the `branch_id` of the payloads.'
  return output.write(`${words}${hint}\n`)
}

function countText(properties: number): string {
  return properties === 1 ? '1 property' : `${properties.toLocaleString('en-GB')} properties`
}

const endWords = {
  goesOn: 'The publisher still uses the old branch. Switch it to the new one first.',
  stopped: 'Stopped.',
  maintenance: 'Maintenance is on, so nothing can be published.',
  unknownFeed: 'The tenant no longer exists.',
  tenantMoving: 'The tenant is moving to another store.',
  epochRequired: 'Publishing to this store waits for a new epoch.',
  clockBehind: 'The clock of this machine is behind the newest event.',
} as const satisfies Readonly<Record<Exclude<BranchMoveEnd, 'done'>, string>>
