/** The codes of refusals as the client has them: of which family each is, and whether another try is worth it (PROTOCOL §7). */
import { problems } from '../../src/problems.ts'
import type { ProblemKind } from '../../src/problems.ts'

/** Statuses after which the same request may succeed. */
const passing: readonly number[] = [408, 425, 429, 500, 502, 503, 504]

const families: ReadonlyMap<number, string> = new Map([
  [401, 'access'],
  [403, 'access'],
  [404, 'notFound'],
  [409, 'conflict'],
])

function entryOf(code: string, { status, again }: ProblemKind): string {
  const isPassing = passing.includes(status)
  const family = isPassing ? 'unavailable' : (families.get(status) ?? 'request')
  return `  ${code}: ['${family}', '${again ?? (isPassing ? 'later' : 'never')}'],\n`
}

/** `packages/client/src/problem-codes.ts`. */
export function problemCodesModule(): string {
  const entries = Object.entries<ProblemKind>(problems).map(([code, kind]) => entryOf(code, kind))
  return `/** The codes with which a service refuses (PROTOCOL §7). Written by \`npm run openapi\`. Do not edit. */

/** Of each code its family, and whether another try is worth it. */
export const problemCodes = {
${entries.join('')}} as const
`
}
