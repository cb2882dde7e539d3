/** Answers held against the OpenAPI document: whatever it does not say of them, and whatever it says and they lack. */
import { problemOf } from './http-client.ts'
import type { Answer } from './http-client.ts'
import type { DocumentedOperation, JsonSchema } from './openapi-document.ts'
import { valueOfText } from './schema-values.ts'
import type { Check } from './schema-values.ts'

/** What HTTP or the security of browsers asks for; the document is about the rest. */
const general =
  /^(date|connection|keep-alive|content-.*|transfer-encoding|cache-control|vary|x-accel-buffering|x-content-type-options|referrer-policy)$/

/** What no schema can say: faults in what a request means. The document has to say all others. */
const ofMeaning: ReadonlySet<string> = new Set([
  // Where a list continues: the form is right, but no answer named this place.
  'not_a_place',
  // A day that no month has.
  'not_a_time',
  // Only the store knows which short codes a feed has.
  'unknown_type',
  'unknown_event_type',
  // Whole numbers beyond 2^53, in a member that may hold anything.
  'number_out_of_range',
  // Two tenants in one request.
  'contradiction',
  'behind_head',
  'window_reversed',
  'before_from',
  // Only this service's operator knows whether deletions can be exported.
  'not_possible',
  // A stream begins after `after` or `Last-Event-ID`.
  'required',
])

/** What can be wrong for what it means, such as a day in the past, scopes that exclude each other, or a search for signs alone. */
const placesOfMeaning =
  /^(?:(?:\/\d+)?\/payload\/published|\/(?:payload|changes|apiEventType|sequenceNumber|until|receivedOn|expiresAt|networks|subjectId|eventId|grants|operator|scopes)|text|search)$/

/** Every fault of an answer. `checkOf`: by whom its body and headers are checked. */
export function faultsOfAnswer(
  { method, responses }: Pick<DocumentedOperation, 'method' | 'responses'>,
  { status, headers, text }: Answer,
  checkOf: (schema: JsonSchema) => Check,
): readonly string[] {
  const response = responses[String(status)]
  if (status >= 500) return ['a fault of the service']
  if (response === undefined) return ['a status that is not documented']
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => {
    if (general.test(name)) return []
    const schema = response.headers?.[name]?.schema
    return schema === undefined
      ? [`${name} is not documented`]
      : faultIn(name, checkOf(schema)(valueOfText(String(value), schema)))
  })
  const faults = 'x-request-id' in headers ? ofHeaders : [...ofHeaders, 'no x-request-id']
  if (response.content === undefined) return text === '' ? faults : [...faults, 'a body']
  const [type = ''] = String(headers['content-type']).split(';')
  const schema = response.content[type]?.schema
  if (schema === undefined) return [...faults, `${type} is not documented of ${method}`]
  const value: unknown = type === 'application/json' ? JSON.parse(text) : text
  return [...faults, ...faultIn('body', checkOf(schema)(value))]
}

/** Whether a request was refused for something that the document could have said. */
export function isRefusedForItsForm(answer: Answer): boolean {
  if (answer.status !== 400 || problemOf(answer).code === 'webhook_address_refused') return false
  const { errors = [] } = problemOf(answer)
  return !errors.some(
    ({ code, pointer, parameter = '' }) => ofMeaning.has(code) || placesOfMeaning.test(pointer ?? parameter),
  )
}

function faultIn(place: string, fault: string | undefined): readonly string[] {
  return fault === undefined ? [] : [`${place}: ${fault}`]
}
