/** Requests made from the OpenAPI document: each either keeps to it in every part, or breaks it in one. */
import * as fc from 'fast-check'
import type { DocumentedOperation, JsonSchema, OpenApiDocument, Parameter } from './openapi-document.ts'
import { spoilt, valueOfText, valuesOf } from './schema-values.ts'
import type { Check } from './schema-values.ts'

export interface DocumentRequest {
  readonly operation: DocumentedOperation
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The part that breaks the document; `undefined`: all of it keeps to it. */
  readonly flaw: string | undefined
}

/** What there is on the service, by the name of the parameter or member of a body. */
export type Known = Readonly<Record<string, readonly string[]>>

interface Sent {
  readonly parameter: Parameter
  readonly text: string
}

export function requestsOf(
  document: OpenApiDocument,
  operation: DocumentedOperation,
  known: Known,
  checkOf: (schema: JsonSchema) => Check,
): fc.Arbitrary<DocumentRequest> {
  const { parameters = [], requestBody } = operation
  const schema = requestBody?.content['application/json']?.schema
  const bodies =
    schema === undefined ? fc.constant(undefined) : valuesOf(document, schema).filter(isAllowed(schema))
  const sound = fc.record({
    sent: fc.tuple(...parameters.map((parameter) => sentOf(parameter))),
    body: bodies.map((body) => withKnown(body, known)),
  })
  const breakable = parameters.filter(({ schema: one }) => isLimited(one))
  const flaws = [...breakable, ...(schema === undefined ? [] : ['body' as const])]
  return sound.chain(({ sent, body }) => {
    const whole = fc.constant(made(sent.flat(), body, undefined))
    if (flaws.length === 0) return whole
    const broken = fc
      .constantFrom(...flaws)
      .chain((flaw) => (flaw === 'body' ? withBody(body) : withParameter(flaw)))
    return fc.oneof({ weight: 2, arbitrary: whole }, { weight: 1, arbitrary: broken })

    function withBody(value: unknown) {
      const check = isAllowed(schema ?? {})
      return (
        spoilt(value)
          // In bodies of the service's own operations a member that is null is as if it were left out.
          .filter((other) => !check(other) && !check(withoutNulls(other)))
          .map((other) => made(sent.flat(), other, `the body ${JSON.stringify(other).slice(0, 2_000)}`))
      )
    }

    function withParameter(parameter: Parameter) {
      const others = sent.flat().filter((one) => one.parameter !== parameter)
      const wrong = brokenTexts(parameter).map((text) =>
        made([...others, { parameter, text }], body, `${parameter.name} in ${parameter.in}: ${text}`),
      )
      const missing = fc.constant(made(others, body, `no ${parameter.name} in ${parameter.in}`))
      const canMiss = parameter.required === true && parameter.in === 'query'
      return canMiss ? fc.oneof(wrong, missing) : wrong
    }
  })

  function isAllowed(one: JsonSchema): (value: unknown) => boolean {
    return (value) => checkOf(one)(value) === undefined
  }

  /** Whether it is sent, and with what. A number to be seen is waited for, so it is one that is there. */
  function sentOf(parameter: Parameter): fc.Arbitrary<readonly Sent[]> {
    const { name, schema: of, required } = parameter
    const valid = name === 'x-feed-min-sequence' ? fc.constantFrom(0, 1) : valuesOf(document, of)
    const texts = valid.map(String).filter(isSendable(parameter))
    const there = known[name] ?? []
    const drawn =
      there.length === 0
        ? texts
        : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...there) }, { weight: 1, arbitrary: texts })
    const sent = drawn.map((text) => [{ parameter, text }])
    return required === true
      ? sent
      : fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: sent })
  }

  function brokenTexts(parameter: Parameter): fc.Arbitrary<string> {
    const check = isAllowed(parameter.schema)
    return fc
      .oneof(
        fc.constantFrom(
          'x',
          '-1',
          '1.5',
          '99999999999999999999',
          'null',
          "' OR 1=1",
          '../x',
          '%00',
          'a'.repeat(300),
        ),
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.string({ minLength: 1, maxLength: 10, unit: 'grapheme' }),
      )
      .filter(isSendable(parameter))
      .filter((text) => !check(valueOfText(text, parameter.schema)))
  }

  function made(sent: readonly Sent[], body: unknown, flaw: string | undefined): DocumentRequest {
    const at = (place: string) => sent.filter(({ parameter }) => parameter.in === place)
    const path = at('path').reduce(
      (filled, { parameter, text }) => filled.replace(`{${parameter.name}}`, () => encodeURIComponent(text)),
      operation.path,
    )
    const query = at('query').map(({ parameter, text }) => `${parameter.name}=${encodeURIComponent(text)}`)
    const headers = at('header').map(({ parameter, text }) => [parameter.name, text] as const)
    return {
      operation,
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers: {
        ...Object.fromEntries(headers),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      flaw,
    }
  }
}

/** An empty text is as good as none, blanks around a header's value are not part of it, and `..` is a path of its own. */
function isSendable({ in: place }: Parameter): (text: string) => boolean {
  return (text) => {
    if (text.trim() === '' || !text.isWellFormed()) return false
    if (place === 'header') return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
    return place !== 'path' || !/^\.+$/.test(text)
  }
}

function isLimited(schema: JsonSchema): boolean {
  return (
    schema['type'] !== 'string' || ['pattern', 'format', 'enum', 'maxLength'].some((one) => one in schema)
  )
}

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([, member]) => member !== null))
}

/** A body with ids of what is there in some places, so that it refers to something. */
function withKnown(body: unknown, known: Known): unknown {
  if (Array.isArray(body)) return body.map((member) => withKnown(member, known))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => {
      const [first] = known[name] ?? []
      const isThere = typeof member === 'string' && first !== undefined && member.length % 2 === 0
      return [name, isThere ? first : withKnown(member, known)]
    }),
  )
}
