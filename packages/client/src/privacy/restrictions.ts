/** Restricts a contact: it is kept but shown to nobody, until the restriction ends (PROTOCOL §5.7). */
import type { CallOptions, Connection } from '../connection.ts'
import { isObject } from '../decode.ts'
import { restrictionsPath } from '../wire.ts'
import type { Restriction, RestrictionRequest as Body } from '../wire.ts'
import { getResource, listResource, postResource, unlessAbsent } from './resource.ts'
import type { OfOwnFeed } from './resource.ts'

/** Which contact to restrict, and why. */
export type RestrictionRequest = OfOwnFeed<Body, 'reason'>

/** If the contact is restricted already, the answer has that restriction, so this call can be repeated. */
export async function restrictContact(
  connection: Connection,
  request: RestrictionRequest,
  options: CallOptions = {},
): Promise<Restriction> {
  return postResource(connection, { path: restrictionsPath, body: request }, isRestriction, options)
}

/** Ends a restriction; `undefined` if there is none that the key may see. */
export async function endRestriction(
  connection: Connection,
  restrictionId: string,
  options: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}/end`
  return unlessAbsent(postResource(connection, { path }, isRestriction, options), 'restriction_not_found')
}

/** The present state of a restriction; `undefined` if there is none that the key may see. */
export async function getRestriction(
  connection: Connection,
  restrictionId: string,
  options: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}`
  return unlessAbsent(getResource(connection, path, isRestriction, options), 'restriction_not_found')
}

/** All restrictions that the key may see, the oldest first, including ended ones. */
export function listRestrictions(
  connection: Connection,
  options: CallOptions = {},
): AsyncGenerator<Restriction> {
  return listResource(connection, restrictionsPath, 'restrictions', isRestriction, options)
}

function isRestriction(value: unknown): value is Restriction {
  const texts = ['id', 'subjectId', 'reason', 'state', 'begunAt']
  return isObject(value) && texts.every((name) => typeof value[name] === 'string')
}
