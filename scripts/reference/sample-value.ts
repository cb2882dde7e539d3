/** A sample of what a schema describes: its own example, or a value made of its parts. */
import { followed } from './openapi.ts'
import type { OpenApi, Schema } from './openapi.ts'

/** The property of the examples in `openapi.json`. */
const uuid = '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e10'

/** What members are shown with. `null`: the member is left out. */
const byName: Readonly<Record<string, unknown>> = {
  actor: 'key:5Rk2pQ7w',
  caseRef: 'DSAR-2026-17',
  code: 'transaction_id_differs',
  createdDate: '2025-01-31T09:30:00.0000001',
  detail: 'Backups made before the erasure hold the payloads until they are deleted.',
  epoch: '1',
  eventId: null,
  eventType: 2,
  eventTypeShortCode: 'PropertyPublished',
  feed: 'property',
  id: '01946e3a-52f0-7c3b-9a61-5d2f0e8b7c11',
  message: 'transactionId is not the UUID of the property.',
  pointer: '/transactionId',
  receivedOn: '2026-01-31',
  sequenceNumber: 1,
  tenantId: '2f6b0c1e-4a57-4c1f-9d3e-8a1b5c7d9e02',
  until: '2036-12-31',
}

/** Deep enough for every schema there is, and an end to one that contains itself. */
const maxDepth = 8

export function sampleOf(document: OpenApi, schema: Schema, depth = 0): unknown {
  const found = followed(document, schema)
  const [example] = found.examples ?? []
  if (example !== undefined) return example
  if (depth > maxDepth) return null
  if (found.enum !== undefined) return found.enum[0]
  if (found.default !== undefined) return found.default
  const alternatives = found.anyOf ?? found.oneOf
  // A time that is null at first: a receipt is shown as it is when it has just been made.
  if (alternatives?.some(({ format }) => format === 'date-time') === true) return null
  if (alternatives !== undefined) return sampleOf(document, alternatives[0] ?? {}, depth + 1)
  const [type] = [found.type ?? 'null'].flat()
  if (type === 'object') return objectSample(document, found, depth)
  if (type === 'array') return [sampleOf(document, found.items ?? {}, depth + 1)]
  if (type === 'string') return textSample(found)
  if (type === 'integer' || type === 'number') return Math.max(1, found.minimum ?? 1)
  return type === 'boolean' ? false : null
}

function objectSample(document: OpenApi, { properties = {} }: Schema, depth: number): unknown {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      const known = byName[name]
      // A marker is there in special cases alone.
      const isMarker = member.enum?.length === 1
      if (known === null || isMarker) return []
      const isText = followed(document, member).type !== 'object'
      return [[name, known !== undefined && isText ? known : sampleOf(document, member, depth + 1)]]
    }),
  )
}

function textSample({ format, pattern }: Schema): string {
  if (format === 'uuid' || pattern?.includes('{8}-') === true) return uuid
  if (format === 'date-time') return '2026-01-31T09:30:00.000Z'
  if (format === 'date') return '2026-01-31'
  return 'text'
}
