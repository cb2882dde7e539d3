/** The problem codes, and what to do about each. */
import { againOf } from '../../packages/client/src/codes.ts'
import type { Again } from '../../packages/client/src/codes.ts'
import { problems } from '../../packages/protocol/src/problems.ts'
import type { ProblemCode } from '../../packages/protocol/src/problems.ts'
import { code, escapeHtml, prose, rows } from './html.ts'
import type { Links } from './html.ts'
import type { Operation } from './openapi.ts'
import { remedies } from './remedies.ts'

const sentAgain: Readonly<Record<Again, string>> = {
  later: 'Retrying later may help.',
  operator: 'Retrying helps once the operator has acted.',
  never: 'Retrying will not help.',
}

export function problemCodes(): readonly ProblemCode[] {
  return Object.keys(problems).filter(isProblemCode)
}

function isProblemCode(name: string): name is ProblemCode {
  return Object.hasOwn(problems, name)
}

/** By status, each code with its anchor, as the `type` of a problem has it. */
export function problemsHtml(links: Links): string {
  const codes = problemCodes()
  const statuses = [...new Set(codes.map((name) => problems[name].status))].sort(
    (left, right) => left - right,
  )
  return statuses
    .map((status) => {
      const list = codes.filter((name) => problems[name].status === status)
      const shown = list.map((name) => ({
        anchor: name,
        name: code(name),
        kind: escapeHtml(problems[name].title),
        text: `${prose(problems[name].detail, links)} <b>What to do:</b> ${prose(remedyOf(name), links)} ${sentAgain[againOf(name)]}`,
      }))
      return `<h3 id="status-${status}">${status}</h3>\n${rows(shown)}`
    })
    .join('\n')
}

function remedyOf(name: ProblemCode): string {
  // The page is made before types are checked, and then a code may be missing here.
  const known: Readonly<Record<string, string>> = remedies
  const remedy = known[name]
  if (remedy === undefined)
    throw new Error(`scripts/reference/remedies.ts does not say what to do about ${name}`)
  return remedy
}

/** The codes in the description of a refusal, which names each in backticks. */
export function codesIn(description: string): readonly string[] {
  return [...description.matchAll(/`([a-z_]+)`:/g)].map(([, name = '']) => name).filter(isProblemCode)
}

/** What every operation with a key can answer. */
export function commonCodes(operations: readonly Operation[]): ReadonlySet<string> {
  const keyed = operations.filter(({ security }) => security.length > 0)
  const [first = new Set<string>(), ...others] = keyed.map(
    ({ responses }) => new Set(responses.flatMap(({ description }) => codesIn(description))),
  )
  return new Set([...first].filter((name) => others.every((codes) => codes.has(name))))
}
