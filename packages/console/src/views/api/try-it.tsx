/** The form of an operation. The request is sent with the session, and its answer is shown unchanged. */
import { useLocation } from 'preact-iso/router'
import { useEffect, useRef, useState } from 'preact/hooks'
import { places } from '../../base.ts'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { hrefOf } from '../../root.ts'
import { sendShown } from '../../service/send-shown.ts'
import type { Shown } from '../../service/send-shown.ts'
import { signedIn } from '../../session/session.ts'
import { chosenTenant } from '../../state/chosen-tenant.ts'
import { countText } from '../../words/numbers.ts'
import { RawPayload } from '../property/raw-payload.tsx'
import { KeyForm } from '../sign-in/sign-in-view.tsx'
import type { ViewProps } from '../view.ts'
import type { ApiOperation, ApiParameter } from './read-document.ts'
import { curlOf, missingOf, presetOf, requestOf } from './request.ts'
import type { Values } from './request.ts'

interface Props {
  readonly operation: ApiOperation
  readonly query: ViewProps['query']
}

export function TryIt({ operation, query }: Props) {
  const { method, parameters, sample } = operation
  const [missing, setMissing] = useState<readonly string[]>([])
  const [isAsked, ask] = useState(false)
  const { values, type, text, write, request, isWaiting, shown, send } = useTrial(operation, query)
  const curl = curlOf(request, signedIn().serviceUrl)
  function submit(event: Event): void {
    event.preventDefault()
    const names = missingOf(operation, values)
    setMissing(names)
    if (names.length > 0 || isWaiting) return
    if (method === 'GET') void send()
    else ask(true)
  }
  return (
    <>
      <form onSubmit={submit} noValidate>
        <Parameters
          of={parameters}
          values={values}
          faultOf={(name) =>
            missing.includes(name)
              ? operation.path.includes(`{${name}}`)
                ? 'It is a part of the address, so it is needed.'
                : 'This operation needs it.'
              : shown?.trouble?.errors.find(({ parameter }) => parameter === name)?.message
          }
          change={type}
        />
        {sample !== undefined && (
          <Field id="body" name="Body (JSON)" value={text} onValue={write} rows={10} />
        )}
        <button class="main" type="submit" disabled={isWaiting}>
          {isWaiting ? 'Waiting for the service …' : method === 'GET' ? 'Run' : 'Run …'}
        </button>
      </form>
      <section class="raw" aria-label="The same with curl">
        <pre>{curl}</pre>
        <Copy text={curl} label="Copy as curl" />
      </section>
      {isAsked && (
        <Dialog title={`${method} ${request.path}`} onClose={() => ask(false)}>
          <p>This is sent as the key that you signed in with, and may change what the service has.</p>
          <button
            class="main"
            type="button"
            onClick={() => {
              ask(false)
              void send()
            }}
          >
            Send it
          </button>
        </Dialog>
      )}
      {shown?.trouble?.code === 'console_needs_fresh_sign_in' && (
        <KeyForm action="Continue" onDone={() => void send()} />
      )}
      {shown?.trouble !== undefined && <Problem trouble={shown.trouble} />}
      {shown?.answer !== undefined && <ShownAnswer answer={shown.answer} />}
    </>
  )
}

/** The filled-in values and the answer. The address contains the parameters of the last request, and never its body. */
function useTrial(operation: ApiOperation, query: ViewProps['query']) {
  const { id, parameters, sample } = operation
  const { key } = signedIn()
  const { route } = useLocation()
  const [typed, setTyped] = useState<Values>({})
  const [text, write] = useState(sample ?? '')
  const [shown, show] = useState<Shown>()
  const [isWaiting, setWaiting] = useState(false)
  const controller = useRef(new AbortController())
  useEffect(() => () => controller.current.abort(), [])
  const presets = parameters.map((one) => [
    one.name,
    query[one.name] ?? presetOf(one, key, chosenTenant.value),
  ])
  const values: Values = { ...Object.fromEntries(presets), ...typed }
  const request = requestOf(operation, values, text)
  async function send(): Promise<void> {
    show(undefined)
    setWaiting(true)
    route(hrefOf(places.api(id, values)), true)
    show(await sendShown(request.path, request, controller.current.signal))
    setWaiting(false)
  }
  const type = (part: Values): void => setTyped({ ...typed, ...part })
  return { values, type, text, write, request, isWaiting, shown, send }
}

interface ParametersProps {
  readonly of: readonly ApiParameter[]
  readonly values: Values
  readonly faultOf: (name: string) => string | undefined
  readonly change: (part: Values) => void
}

function Parameters({ of, values, faultOf, change }: ParametersProps) {
  return of.map(({ name, place, says, isRequired, example, among }) => (
    <Field
      key={name}
      id={`parameter-${name}`}
      name={place === 'header' ? `${name} (header)` : name}
      value={values[name] ?? ''}
      onValue={(value) => change({ [name]: value.trim() })}
      says={withCode(says)}
      hint={example}
      isRequired={isRequired}
      among={among}
      fault={faultOf(name)}
    />
  ))
}

/** A text of the document, in which names stand between backticks. */
export function withCode(text: string) {
  return text.split('`').map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part))
}

function ShownAnswer({ answer }: { readonly answer: NonNullable<Shown['answer']> }) {
  const { status, tookMs, headers, text, isCut } = answer
  return (
    <section aria-label="Answer">
      <p role="status">
        <strong>{status}</strong> in {countText(tookMs)} ms
        {isCut && ', the beginning of it alone'}
      </p>
      <details>
        <summary>Headers</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>
      {text !== '' && <RawPayload payload={text} name="the answer" />}
    </section>
  )
}
