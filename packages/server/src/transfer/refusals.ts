/** The obstacles to moving a tenant, in sentences, and the state in which an interrupted move leaves it. */
import { plainText } from '@property-events/protocol'
import type { MoveState } from '../events/feed.ts'
import type { Tenant } from '../tenants/tenant.ts'
import { CopyRefusal } from './compare.ts'

/** How far a run has come when it ends early. */
export type MoveStage = 'before' | 'copying' | 'closed' | 'opening'

const stageMessages: Readonly<Record<MoveStage, string>> = {
  before: 'Nothing was changed.',
  copying:
    'The tenant is published in the source as before, and not in the target. Run the same command again to continue.',
  closed:
    'Nothing can be published for the tenant now, in either store; it can be read in the source. Run the same command again to continue, or with --reopen to publish in the source again.',
  opening:
    'It is not known whether the target is open for the tenant yet; the source is closed for it. Run the same command again: it finds out, and continues.',
}

/** `reason`: a whole sentence. */
export function endedEarly(stage: MoveStage, reason: string, cause?: unknown): CopyRefusal {
  return new CopyRefusal(`${reason} ${stageMessages[stage]}`, { cause })
}

/** Why the states of the two stores do not allow the move; `undefined`: they do. `there`: `undefined` for no such tenant. */
export function movingFault(
  tenant: Tenant,
  here: MoveState,
  there: MoveState | undefined,
  isEmptyThere: boolean,
): string | undefined {
  const name = `Tenant ${tenant.tenantId} "${plainText(tenant.name)}"`
  if (here === 'deleting' || there === 'deleting') {
    return `${name} is being deleted in the ${here === 'deleting' ? 'source' : 'target'}.`
  }
  if (here.startsWith('arriving') || here === 'abandoned') {
    return `${name} is not complete in the source: a move to there was begun and not finished. Finish that one first, or name the store that it is published in.`
  }
  if (there === 'open' && !isEmptyThere && here !== 'left') {
    return `${name} is open in both stores, so new events can be in either. If the source was restored from an earlier state, the target has the tenant: suspend it in the source. Otherwise move it into another store.`
  }
  if (here === 'left' && (there === undefined || there === 'left')) {
    return `${name} has left the source for another store than this target. Name the store that it is published in as --from; or, if that store is gone for good, run this with --reopen and without --to.`
  }
  return undefined
}

export function referenceFault({ reference = '' }: Tenant): string {
  return `Another tenant of the target has the reference "${plainText(reference)}". Give one of the two another reference first.`
}

/** Why the tenant cannot be taken back to the source; `undefined`: it can. */
export function reopeningFault(
  tenant: Tenant,
  here: MoveState,
  there: MoveState | undefined,
): string | undefined {
  const name = `Tenant ${tenant.tenantId} "${plainText(tenant.name)}"`
  if (here === 'deleting') return `${name} is being deleted in the source.`
  if (here === 'open') return `${name} is open in the source already.`
  if (here !== 'leaving' && here !== 'left') {
    return `${name} was never complete in the source: only a finished move to there opens it.`
  }
  if (there === 'open') {
    return `${name} is published in the target by now. Move it back: the same command with --from and --to the other way round.`
  }
  if (there === 'left') {
    return `${name} has gone from the target to a third store. Move it back from the one that it is published in.`
  }
  if (here === 'left' && there === undefined) {
    return `The target has no such tenant, so ${name} has left for another store. Name that one as --to; or leave --to out, if it is gone for good.`
  }
  return undefined
}
