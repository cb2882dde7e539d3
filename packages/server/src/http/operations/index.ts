/** The table of operations: one row each. */
import { feedNames } from '@property-events/protocol'
import type { ConsoleOptions } from '../console/console-door.ts'
import type { HttpContext } from '../context.ts'
import type { Deprecation } from '../deprecation.ts'
import { openApiText } from '../openapi/document.ts'
import { readReferencePage } from '../openapi/reference-page.ts'
import { adminOperations } from './admin/index.ts'
import { consoleOperations } from './console/index.ts'
import { acknowledgeReading } from './consumers/acknowledge-reading.ts'
import { propertyConsumers } from './consumers/property-consumers.ts'
import { putResults } from './consumers/put-results.ts'
import { docs } from './docs.ts'
import { erase } from './erase.ts'
import { getErasure, listErasures } from './erasures.ts'
import { listExpiring, keepContact } from './expiring.ts'
import { getExposure } from './exposure.ts'
import { getEvent } from './get-event.ts'
import { getPicture } from './get-picture.ts'
import type { PictureSource } from './get-picture.ts'
import { getSubject } from './get-subject.ts'
import { readHeads } from './heads.ts'
import { addHold, endHold, listHolds } from './holds.ts'
import { listEvents } from './list-events.ts'
import { openApi } from './openapi.ts'
import type { Operation } from './operation.ts'
import { listOwnPublications } from './own-publications.ts'
import { publishEvents } from './publish-events.ts'
import { readDigest } from './read-digest.ts'
import { readEventRun } from './read-run.ts'
import { readReductions } from './read-reductions.ts'
import { readSnapshot } from './snapshot.ts'
import { streamEvents } from './stream.ts'
import { madeOnce, staticDocument } from './static-document.ts'
import { endRestriction, restrictContact } from './restrict.ts'
import { getRestriction, listRestrictions } from './restrictions.ts'
import { subjectHistory } from './subject-history.ts'

/** The announced ends of operations, by their `operationId`. */
export type Deprecations = Readonly<Record<string, Deprecation>>

/** Which operations the table has, and how they are described. */
export interface TableOptions {
  /** Operations whose end is announced with each of their answers (D27). */
  readonly deprecations?: Deprecations
  /** The photographs of invented homes under `/pictures`. Left out: there are none. */
  readonly pictures?: PictureSource | undefined
  /** Offer the console, in a browser at `/console` (PROTOCOL §15). Left out: it is off. */
  readonly console?: ConsoleOptions | undefined
}

export function operationTable(context: HttpContext, options: TableOptions = {}): readonly Operation[] {
  const { deprecations = {}, pictures } = options
  const { basePath } = context
  const document = madeOnce(() => staticDocument('application/json', openApiText(operations, basePath)))
  const page = madeOnce(() => {
    const { html, headers } = readReferencePage()
    return staticDocument('text/html; charset=utf-8', html, headers)
  })
  const rows: readonly Operation[] = [
    ...feedNames.flatMap((feed) => [listEvents(context, feed), getEvent(context, feed)]),
    ...feedNames.map((feed) => publishEvents(context, feed)),
    ...feedNames.flatMap((feed) => [
      readEventRun(context, feed),
      readSnapshot(context, feed),
      streamEvents(context, feed),
      readReductions(context, feed),
      readDigest(context, feed),
      getSubject(context, feed),
      subjectHistory(context, feed),
    ]),
    readHeads(context),
    listOwnPublications(context),
    ...feedNames.map((feed) => acknowledgeReading(context, feed)),
    putResults(context),
    propertyConsumers(context),
    erase(context),
    listErasures(context),
    getErasure(context),
    addHold(context),
    listHolds(context),
    endHold(context),
    restrictContact(context),
    listRestrictions(context),
    getRestriction(context),
    endRestriction(context),
    listExpiring(context),
    keepContact(context),
    getExposure(context),
    ...adminOperations(context),
    openApi(context, document),
    docs(context, page),
  ]
  const operations = rows.map((operation) => withDeprecation(operation, deprecations))
  // Not in the document, because neither is part of the contract.
  return [
    ...operations,
    ...(pictures === undefined ? [] : [getPicture(context, pictures)]),
    ...(context.door === undefined ? [] : consoleOperations(context, context.door, pictures !== undefined)),
  ]
}

function withDeprecation(operation: Operation, deprecations: Deprecations): Operation {
  const names = Object.keys(deprecations)
  if (names.length === 0) return operation
  const { operationId } = operation.schema()
  return { ...operation, deprecation: deprecations[operationId] }
}
