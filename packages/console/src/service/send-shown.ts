/** A request whose answer is shown unchanged: its status, headers and bytes, and how long it took. */
import { base } from '../root.ts'
import { noteAnswer, noteSilence } from '../state/connection.ts'
import { ask, noteEnd } from './call.ts'
import { awayTrouble, troubleOf } from './trouble.ts'
import type { Trouble } from './trouble.ts'

export interface ShownAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
  /** The answer continues beyond this. */
  readonly isCut: boolean
  /** From the request to the last shown byte. */
  readonly tookMs: number
}

export interface Shown {
  /** `undefined`: no answer came. */
  readonly answer: ShownAnswer | undefined
  /** If the answer is a refusal, or none came. */
  readonly trouble: Trouble | undefined
}

/** A snapshot of a million properties would fill the page. */
const mostCharacters = 200_000
/** A stream lasts for minutes, so only its beginning is shown. */
const streamShownMs = 3_000

/** Sends it through the door of the console. Never throws. */
export async function sendShown(
  path: string,
  asking: Parameters<typeof ask>[1],
  signal: AbortSignal,
): Promise<Shown> {
  const startedMs = performance.now()
  try {
    const response = await ask(`${base}/api${path}`, asking, signal)
    const { status, headers, ok } = response
    const { text, isCut } = await beginningOf(response)
    noteAnswer()
    const tookMs = Math.round(performance.now() - startedMs)
    const trouble = ok || status === 304 ? undefined : troubleOf(status, text, (name) => headers.get(name))
    if (trouble !== undefined) noteEnd(trouble)
    return { answer: { status, headers: [...headers], text, isCut, tookMs }, trouble }
  } catch {
    if (!signal.aborted) noteSilence()
    return { answer: undefined, trouble: awayTrouble() }
  }
}

async function beginningOf({
  body,
  headers,
}: Response): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const isStream = headers.get('content-type') === 'text/event-stream'
  const timer = isStream ? setTimeout(() => void reader?.cancel(), streamShownMs) : undefined
  let text = ''
  for (;;) {
    const piece = await reader?.read()
    if (piece === undefined || piece.done) break
    text += decoder.decode(piece.value, { stream: true })
    if (text.length > mostCharacters) break
  }
  clearTimeout(timer)
  const isCut = text.length > mostCharacters
  if (isCut) await reader?.cancel()
  return { text: text.slice(0, mostCharacters), isCut: isCut || isStream }
}
