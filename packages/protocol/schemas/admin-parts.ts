/** What the schemas of administration are made of. */
import Type from 'typebox'

export const text = (description: string) => Type.String({ description })
export const uuid = (description: string) => Type.String({ format: 'uuid', description })
export const moment = (description: string) => Type.String({ format: 'date-time', description })
export const orNull = (schema: Type.TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })
export const time = (description: string) => orNull(Type.String({ format: 'date-time' }), description)
export const whole = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
export const next = orNull(Type.String(), 'Send it as `after` to get what comes next; null at the end.')

export const listed = (title: string, member: Type.TSchema) =>
  Type.Object({ items: Type.Array(member, { description: 'In the order of the list.' }), next }, { title })
