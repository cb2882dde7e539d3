import Type from 'typebox'

/** One fault of a request: which parameter or which place in the body (RFC 6901 pointer), and what is allowed. */
export const ProblemError = Type.Object(
  {
    parameter: Type.Optional(Type.String({ description: 'Name of the query, path or header parameter.' })),
    pointer: Type.Optional(Type.String({ description: 'JSON pointer into the request body.' })),
    code: Type.String({ description: 'Stable, machine-readable.' }),
    message: Type.String({ description: 'What was sent, what is allowed and what to do, in a sentence.' }),
  },
  { title: 'ProblemError' },
)
export type ProblemError = Type.Static<typeof ProblemError>

/** The body of every error (D6): RFC 9457 problem details, sent as application/json (spec §4). */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'A URI reference that names the code.' }),
    title: Type.String({ description: 'The problem in a few words, the same for every request.' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'As in the head of the answer.' }),
    detail: Type.String({ description: 'What was wrong with this request, and what to do.' }),
    instance: Type.String({ description: 'The path of the request, without its query.' }),
    code: Type.String({ description: 'Stable, machine-readable; see PROTOCOL.md.' }),
    requestId: Type.String({ description: 'Names the request in the log of the service.' }),
    errors: Type.Optional(
      Type.Array(ProblemError, { description: 'At most 100, and of one payload at most 20.' }),
    ),
  },
  { title: 'Problem' },
)
export type Problem = Type.Static<typeof Problem>
