/** What several schemas have in common. */
import Type from 'typebox'

/** A number that JavaScript has exactly. */
export const whole = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
export const epoch = Type.String({
  pattern: '^[0-9A-Za-z]{1,64}$',
  description: 'Changes when numbers continue after a gap, as after a restore: begin again.',
})
export const revision = whole(
  'Rises when stored payloads were reduced. A copy of the latest events need do nothing.',
)

export function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

export function listOf(name: string): { readonly type: 'array'; readonly items: { readonly $ref: string } } {
  return { type: 'array', items: refTo(name) }
}
