/** Tries out a publication: faults and advice at their lines, and what it would change. */
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isFeedName } from '../../base.ts'
import type { FeedName } from '../../base.ts'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/answer.tsx'
import { call } from '../../service/call.ts'
import { publish } from '../../service/operations/feeds.ts'
import type { Receipt } from '../../service/operations/feeds.ts'
import type { Failure } from '../../service/failure.ts'
import { useAction } from '../../service/use-answer.ts'
import { scopesIn } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { counted } from '../../words/numbers.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import type { ViewProps } from '../view.ts'
import { AgainstLatest } from './against-latest.tsx'
import { readDraft } from './read-draft.ts'
import type { Draft } from './read-draft.ts'
import { receiptWords, remarksOf } from './remarks.ts'
import type { Remark } from './remarks.ts'
import '../property/property.css'
import '../records.css'
import './playground.css'

/** The pause after the last key press. */
const restMs = 400
const longestText = 2 * 2 ** 20
const example = `{
  "agent_ref": "0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10",
  "published": true
}`

export function PlaygroundView({ parts: { tenantId = '' }, query }: ViewProps) {
  const held = scopesIn(signedIn().key, tenantId)
  const feeds = (['property', 'contact'] as const).filter((feed) => held.includes(`${feed}:publish`))
  const [feed, setFeed] = useState<FeedName>(
    isFeedName(query['feed']) ? query['feed'] : (feeds[0] ?? 'property'),
  )
  const [text, setText] = useState('')
  const [isAsking, setAsking] = useState(false)
  const draft = useMemo(() => readDraft(text), [text])
  const dry = useDryRun(tenantId, feed, draft)
  const area = useRef<HTMLTextAreaElement>(null)
  return (
    <article class="playground">
      <h1>Playground</h1>
      <Tools feeds={feeds} feed={feed} setFeed={setFeed} setText={setText} />
      <div class="desk">
        <div class="draft">
          <label htmlFor="draft">
            A payload, an event, an array of them, or one on each line
            <Editor area={area} text={text} onText={setText} />
          </label>
        </div>
        <section class="verdict" aria-label="Result of the dry run" aria-live="polite">
          <Verdict text={text} draft={draft} dry={dry} show={(line) => selectLine(area.current, line)} />
          {draft.kind === 'events' && <AgainstLatest tenantId={tenantId} feed={feed} draft={draft} />}
          <p>
            <button
              type="button"
              class="main"
              disabled={draft.kind !== 'events' || dry.receipt === undefined}
              onClick={() => setAsking(true)}
            >
              Publish …
            </button>
          </p>
        </section>
      </div>
      {isAsking && draft.kind === 'events' && (
        <PublishDialog tenantId={tenantId} feed={feed} draft={draft} onClose={() => setAsking(false)} />
      )}
    </article>
  )
}

interface EditorProps {
  readonly area: RefObject<HTMLTextAreaElement | null>
  readonly text: string
  readonly onText: (text: string) => void
}

/** A field for text, with the numbers of its lines beside it. */
function Editor({ area, text, onText }: EditorProps) {
  const numbers = useRef<HTMLPreElement>(null)
  const count = text.split('\n').length
  return (
    <span class="editor">
      <pre ref={numbers} aria-hidden="true">
        {Array.from({ length: count }, (_, n) => n + 1).join('\n')}
      </pre>
      <textarea
        id="draft"
        ref={area}
        spellcheck={false}
        rows={24}
        wrap="off"
        placeholder={example}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop
        }}
      />
    </span>
  )
}

interface ToolsProps {
  readonly feeds: readonly FeedName[]
  readonly feed: FeedName
  readonly setFeed: (feed: FeedName) => void
  readonly setText: (text: string) => void
}

/** The choice of feed, and a file instead of typing. */
function Tools({ feeds, feed, setFeed, setText }: ToolsProps) {
  const [isTooLong, setTooLong] = useState(false)
  async function take(file: File | undefined): Promise<void> {
    if (file === undefined) return
    setTooLong(file.size > longestText)
    if (file.size <= longestText) setText(await file.text())
  }
  return (
    <>
      <p class="tools">
        {feeds.length > 1 && (
          <label>
            Feed{' '}
            <select
              value={feed}
              onChange={({ currentTarget: { value } }) => setFeed(isFeedName(value) ? value : feed)}
            >
              <option value="property">Properties</option>
              <option value="contact">Contacts</option>
            </select>
          </label>
        )}
        <label class="file">
          Open a file with JSON or NDJSON
          <input
            class="unseen"
            type="file"
            accept=".json,.ndjson,.jsonl,application/json"
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
          />
        </label>
      </p>
      {isTooLong && (
        <p role="alert" class="mark-stopped">
          The file has more than 2 MiB. Publish it with the command line: property-events publish.
        </p>
      )}
    </>
  )
}

interface DryRun {
  readonly receipt: Receipt | undefined
  readonly failure: Failure | undefined
  readonly isAsking: boolean
}

const notAsked: DryRun = { receipt: undefined, failure: undefined, isAsking: false }

function useDryRun(tenantId: string, feed: FeedName, draft: Draft): DryRun {
  const [dry, setDry] = useState<DryRun>(notAsked)
  const body = draft.kind === 'events' ? draft.body : undefined
  useEffect(() => {
    setDry({ ...notAsked, isAsking: body !== undefined })
    if (body === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => void ask(body), restMs)
    async function ask(asked: string): Promise<void> {
      const outcome = await call(publish(tenantId, feed, asked, true), { signal })
      if (outcome.kind === 'answer') setDry({ ...notAsked, receipt: outcome.value })
      if (outcome.kind === 'failure') setDry({ ...notAsked, failure: outcome.failure })
    }
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [tenantId, feed, body])
  return dry
}

interface VerdictProps {
  readonly text: string
  readonly draft: Draft
  readonly dry: DryRun
  readonly show: (line: number) => void
}

function Verdict({ text, draft, dry: { receipt, failure, isAsking }, show }: VerdictProps) {
  if (draft.kind === 'empty')
    return <p class="quiet">Type or paste JSON. Each change is checked by a dry run, which stores nothing.</p>
  if (draft.kind === 'fault') {
    const remark: Remark = { kind: 'fault', line: draft.line, code: 'syntax', message: draft.message }
    return <Remarks remarks={[remark]} show={show} />
  }
  if (isAsking) return <p class="quiet">Checking …</p>
  if (failure !== undefined) {
    if (failure.errors.length === 0) return <Problem failure={failure} />
    return (
      <>
        <p>This cannot be published:</p>
        <Remarks remarks={remarksOf(text, draft, { errors: failure.errors })} show={show} />
      </>
    )
  }
  return receipt === undefined ? null : (
    <>
      <p class="mark-good">{receiptWords(receipt, true)}</p>
      <Remarks remarks={remarksOf(text, draft, { warnings: receipt.warnings })} show={show} />
    </>
  )
}

function Remarks({
  remarks,
  show,
}: {
  readonly remarks: readonly Remark[]
  readonly show: (line: number) => void
}) {
  return (
    <ul class="remarks">
      {remarks.map(({ kind, line, code, message }, index) => (
        <li key={index} class={kind === 'fault' ? 'mark-stopped' : 'mark-behind'}>
          <button type="button" onClick={() => show(line)}>
            {kind === 'fault' ? '✗' : '!'} line {line}
          </button>{' '}
          {message} <code>{code}</code>
        </li>
      ))}
    </ul>
  )
}

function selectLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return
  const lines = area.value.split('\n')
  const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
  area.focus()
  area.setSelectionRange(from, from + (lines[line - 1] ?? '').length)
  area.scrollTop = ((line - 1) / lines.length) * area.scrollHeight - area.clientHeight / 3
}

interface PublishProps {
  readonly tenantId: string
  readonly feed: FeedName
  readonly draft: Extract<Draft, { readonly kind: 'events' }>
  readonly onClose: () => void
}

function PublishDialog({ tenantId, feed, draft, onClose }: PublishProps) {
  const action = useAction<Receipt>()
  return (
    <Dialog title={`Publish ${counted(draft.events.length, 'event')}?`} onClose={onClose}>
      {action.done === undefined ? (
        <form
          class="dialog-form"
          onSubmit={(event) => {
            event.preventDefault()
            void action.run(publish(tenantId, feed, draft.body, false))
          }}
        >
          <p>
            Every consumer of this feed receives it. It cannot be withdrawn, only replaced by a later version.
          </p>
          <DialogActions name="Publish" isBusy={action.isBusy} onCancel={onClose} />
        </form>
      ) : (
        <p role="status">{receiptWords(action.done, false)}</p>
      )}
      <ActionFailure action={action} />
    </Dialog>
  )
}
