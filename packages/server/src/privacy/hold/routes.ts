/** `/v1/holds`: protects properties and contacts from erasure and from retention for a time (PROTOCOL §5.7, D17). */
import { uuidV7, feedNames, holdGrounds } from '@property-events/protocol'
import type { Access } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import {
  addOperation,
  idOperation,
  listDescription,
  listedPerPage,
  listOperation,
} from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import { changeProblems } from '../../http/openapi/responses.ts'
import type { Operation } from '../../http/operation.ts'
import { success } from '../../http/problem/problem.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import { inMaintenance, refusalOfFeed } from '../../publishing/publish-refusal.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'
import { erasedFeed, erasingTenant, maySee } from '../erasure/erasing-access.ts'
import { holdAnswer } from './hold-answer.ts'
import type { HoldRequest, HoldStore } from './hold.ts'
import type { FeedName } from '@property-events/protocol'
import { isDay, readCaseRef, readObject } from '../../http/requests/body-members.ts'
import type { BodyReading } from '../../http/requests/body-members.ts'

interface Context extends MaintenanceContext, ListContext, BodyContext {
  readonly holds: HoldStore
}

const holds: Listed = { one: 'a hold', parameter: 'holdId', path: '/v1/holds', scope: 'anyErase' }

export function addHold(context: Context): Operation {
  return addOperation(context, holds, {
    operationId: 'addHold',
    summary: 'Place a hold on a property or contact',
    description:
      'Until the end of a day, nothing of it is erased, nor reduced by retention. Reading and publishing go on.',
    body: 'HoldRequest',
    ok: { status: success.created, description: 'It is on hold.', schema: 'Hold' },
    problems: ['storage_full', ...changeProblems],
    read: (text) => readHoldBody(text, Date.now()),
    answer: (access, body) => add(context, access, body),
  })
}

async function add(
  context: Context,
  access: Access,
  { feed, subjectId, ground, untilMs, caseRef }: HoldBody,
): Promise<Outcome> {
  const key = erasedFeed(access, feed)
  if ('refusal' in key) return key
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const words = { key, subjectId, ground, caseRef, untilMs }
  const actor = `key:${access.keyId ?? ''}` as const
  const outcome = await context.holds.add({ holdId: uuidV7(Date.now()), ...words, actor })
  if (outcome.kind === 'unknownTarget') return refused({ code: 'subject_not_found' })
  if (outcome.kind !== 'added') return refused(refusalOfFeed(outcome))
  return uncachedAnswer(holdAnswer(outcome.hold, Date.now()), success.created)
}

export function listHolds(context: Context): Operation {
  return listOperation(context, holds, {
    operationId: 'listHolds',
    summary: 'List holds',
    description: listDescription('ended and expired ones included'),
    ok: { description: 'The holds.', schema: 'Holds' },
    name: 'holds',
    async page(access, after) {
      const tenant = erasingTenant(access)
      if (typeof tenant !== 'string') return tenant
      const found = await context.holds.list(tenant, after, listedPerPage)
      const nowMs = Date.now()
      const rows = found.filter((hold) => maySee(access, hold)).map((hold) => holdAnswer(hold, nowMs))
      return { rows, ids: found.map(({ holdId }) => holdId) }
    },
  })
}

export function endHold(context: Context): Operation {
  return idOperation(context, holds, {
    verb: 'end',
    operationId: 'endHold',
    summary: 'End a hold',
    description: 'It keeps nothing any more, from now on. One that was ended before stays as it is.',
    ok: { description: 'The hold as it stands.', schema: 'Hold' },
    problems: ['hold_not_found', 'storage_full', ...changeProblems],
    answer: (access, holdId) => end(context, access, holdId),
  })
}

async function end(context: Context, access: Access, holdId: string): Promise<Outcome> {
  const tenant = erasingTenant(access)
  if (typeof tenant !== 'string') return tenant
  // Looked up first: a key that may not see the hold must not end it.
  const found = await context.holds.find(tenant, holdId)
  if (found === undefined || !maySee(access, found)) return refused({ code: 'hold_not_found' })
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  const outcome = await context.holds.end(tenant, holdId, `key:${access.keyId ?? ''}`)
  if (outcome.kind === 'unknownHold') return refused({ code: 'hold_not_found' })
  if (outcome.kind !== 'ended') return refused(refusalOfFeed(outcome))
  return uncachedAnswer(holdAnswer(outcome.hold, Date.now()))
}

interface HoldBody extends Pick<HoldRequest, 'subjectId' | 'ground' | 'caseRef' | 'untilMs'> {
  readonly feed: FeedName
}

const names = ['feed', 'subjectId', 'ground', 'until', 'caseRef'] as const

const dayMs = 86_400_000
/** A hold is not for ever, and a year is easily mistyped. */
const longestYears = 20

function readHoldBody(text: string, nowMs: number): BodyReading<HoldBody> {
  const latestMs = new Date(nowMs).setUTCFullYear(new Date(nowMs).getUTCFullYear() + longestYears)
  const isUntil = (day: string): boolean => {
    const endMs = isDay(day) ? endOf(day) : 0
    return endMs > nowMs && endMs <= latestMs
  }
  const words = `a day such as 2027-12-31, which it includes (UTC): today or later, and at most ${longestYears} years from now`
  const example = '{"feed":"contact","subjectId":"…","ground":"…","until":"2027-12-31"}'
  return readObject(text, names, example, (members) => {
    const feed = members.oneOf('feed', feedNames)
    const subjectId = members.uuid('subjectId')
    const ground = members.oneOf('ground', holdGrounds)
    const until = members.matching('until', isUntil, words)
    if (!members.given.has('until')) members.fault('until', `until must be ${words}.`)
    const caseRef = readCaseRef(members)
    const isWhole =
      feed !== undefined && subjectId !== undefined && ground !== undefined && until !== undefined
    return isWhole ? { feed, subjectId, ground, untilMs: endOf(until), caseRef } : undefined
  })
}

function endOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + dayMs
}
