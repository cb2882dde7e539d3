/** The body of every error (D6, PROTOCOL §7): RFC 9457 problem details, sent as application/json (spec §4). */
import Type from 'typebox'
import { problems } from '../src/problems.ts'
import { listOf, part, text } from './parts.ts'

/** One fault of a request: which parameter or which place in the body (RFC 6901 pointer), and what is allowed. */
const ProblemError = Type.Object(
  {
    parameter: Type.Optional(text('Name of the query, path or header parameter.')),
    pointer: Type.Optional(text('JSON pointer into the request body.')),
    code: text('Stable, machine-readable.'),
    message: text('What was sent, what is allowed and what to do, in a sentence.'),
  },
  { title: 'ProblemError' },
)

/** The codes there are today; clients have to expect others, as further ones may come within `v1` (D27). */
const code = Type.Unsafe({
  description: 'Stable, machine-readable. Further ones may come.',
  anyOf: [
    part('ProblemCode', Type.Unsafe({ type: 'string', enum: Object.keys(problems) })),
    { type: 'string' },
  ],
  examples: ['invalid_parameter'],
})

export const problemSchemas = {
  ProblemError,
  Problem: Type.Object(
    {
      type: text('A URI reference that names the code.'),
      title: text('The problem in a few words, the same for every request.'),
      status: Type.Integer({ minimum: 400, maximum: 599, description: 'As in the head of the answer.' }),
      detail: text('What was wrong with this request, and what to do.'),
      instance: text('The path of the request, without its query.'),
      code,
      requestId: text('Names the request in the log of the service.'),
      errors: Type.Optional(
        Type.Unsafe({
          ...listOf('ProblemError'),
          description: 'At most 100, and of one payload at most 20.',
        }),
      ),
    },
    { title: 'Problem' },
  ),
} as const
