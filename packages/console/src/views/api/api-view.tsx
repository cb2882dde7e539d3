/** The operations of the service, and a form to try each that the session may use. */
import { useLocation } from 'preact-iso/router'
import { places } from '../../base.ts'
import type { Query } from '../../base.ts'
import { Answer } from '../../parts/answer.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Field } from '../../parts/field.tsx'
import { hrefOf, serviceBase } from '../../root.ts'
import { getOpenApi } from '../../service/operations/description.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { signedIn } from '../../session/session.ts'
import { counted } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { mayUse, needWords } from './may-use.ts'
import { operationsOf, operationsWith } from './read-document.ts'
import type { ApiOperation } from './read-document.ts'
import { TryIt, withCode } from './try-it.tsx'
import './api.css'

export function ApiView({ parts: { operationId }, query }: ViewProps) {
  const document = useAnswer(getOpenApi())
  return (
    <article class="api">
      <header>
        <h1>
          {operationId === undefined ? 'API' : <a href={hrefOf(places.api())}>API</a>}
          {operationId !== undefined && ` ▸ ${operationId}`}
        </h1>
        <a href={`${serviceBase}/docs`}>The whole reference</a>
      </header>
      <Answer of={document} what="the list of operations">
        {(value) => {
          const operations = operationsOf(value)
          if (operationId === undefined) return <OperationList operations={operations} query={query} />
          const one = operations.find(({ id }) => id === operationId)
          if (one === undefined) return <Empty title="The service has no such operation." />
          return <OneOperation key={operationId} operation={one} query={query} />
        }}
      </Answer>
    </article>
  )
}

interface ListProps {
  readonly operations: readonly ApiOperation[]
  readonly query: ViewProps['query']
}

/** Those that the session may use; the others on request, with what they need. */
function OperationList({ operations, query: { find = '', others } }: ListProps) {
  const { route } = useLocation()
  const { key } = signedIn()
  const found = operationsWith(operations, find)
  const usable = found.filter(({ scopes }) => mayUse(key, scopes))
  const isAll = others === 'shown'
  const tags = Object.entries(Object.groupBy(isAll ? found : usable, ({ tag }) => tag))
  const show = (changes: Query): void =>
    route(hrefOf(places.api(undefined, { find, others, ...changes })), true)
  return (
    <>
      <Field
        id="find-operation"
        name="Find an operation"
        value={find}
        onValue={(text) => show({ find: text })}
      />
      {usable.length < found.length && (
        <p>
          <label>
            <input
              type="checkbox"
              checked={isAll}
              onChange={({ currentTarget }) => show({ others: currentTarget.checked ? 'shown' : undefined })}
            />{' '}
            Show {counted(found.length - usable.length, 'operation')} for other keys
          </label>
        </p>
      )}
      {tags.length === 0 && <Empty title="No operation has these words in its name, path or summary." />}
      {tags.map(([tag, ofTag = []]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          <ul>
            {ofTag.map(({ id, summary, method, path, scopes }) => (
              <li key={id}>
                <a href={hrefOf(places.api(id))}>{summary}</a>{' '}
                <code>
                  {method} {path}
                </code>
                {!mayUse(key, scopes) && <span class="quiet"> needs {needWords(scopes)}</span>}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

interface OneProps {
  readonly operation: ApiOperation
  readonly query: ViewProps['query']
}

function OneOperation({ operation, query }: OneProps) {
  const { summary, method, path, description, scopes } = operation
  return (
    <>
      <h2>{summary}</h2>
      <p>
        <code>
          {method} {path}
        </code>
      </p>
      <p>{withCode(description)}</p>
      {mayUse(signedIn().key, scopes) ? (
        <TryIt operation={operation} query={query} />
      ) : (
        <Empty title="The key that you signed in with may not use this operation.">
          <p>It needs {needWords(scopes)}.</p>
        </Empty>
      )}
    </>
  )
}
