/** What the schemas are made of. */
import Type from 'typebox'
import { feedNames } from '../src/plain.ts'

export const text = (description: string) => Type.String({ description })
export const uuid = (description: string) => Type.String({ format: 'uuid', description })
/** A time in UTC. */
export const moment = (description: string) => Type.String({ format: 'date-time', description })
export const day = (description: string) => Type.String({ format: 'date', description })
/** A number that JavaScript has exactly. */
export const whole = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
export const orNull = (schema: Type.TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })
export const textOrNull = (description: string) => orNull(Type.String(), description)
/** A time, or null. */
export const time = (description: string) => orNull(Type.String({ format: 'date-time' }), description)
/** One of these texts. */
export const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe({ enum: [...values], description })

export const epoch = Type.String({
  pattern: '^[0-9A-Za-z]{1,64}$',
  description: 'Changes when numbers continue after a gap, as after a restore: begin again.',
})
export const revision = whole(
  'Rises when stored payloads were reduced. A copy of the latest events need do nothing.',
)
export const next = orNull(Type.String(), 'Send it as `after` to get what comes next; null at the end.')

export const listed = (title: string, member: Type.TSchema) =>
  Type.Object({ items: Type.Array(member, { description: 'In the order of the list.' }), next }, { title })

export function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

export function listOf(name: string): { readonly type: 'array'; readonly items: { readonly $ref: string } } {
  return { type: 'array', items: refTo(name) }
}

/** A page of a list: its rows under `rows`, and `next`. */
export function listPage(title: string, rows: string, row: string) {
  const after = Type.Union([uuid('Ask for those after it next.'), Type.Null()])
  return Type.Object({ [rows]: Type.Unsafe(listOf(row)), next: after }, { title })
}

const parts = new Map<string, Type.TSchema>()

/** Names a part of schemas for TypeScript. In the description of the service it has no name, and stands where it is used. */
export function part<T extends Type.TSchema>(name: string, schema: T): T {
  parts.set(name, schema)
  return schema
}

/** The parts that have names. */
export function namedParts(): ReadonlyMap<string, Type.TSchema> {
  return parts
}

export const feedName = part('FeedName', oneOf(feedNames, 'Which feed of the tenant.'))
