/** Writes the progress of all endpoints of a node together: one commit for many tries. */
import type { TaskReport } from '../runtime/background-task.ts'
import { pause } from '../runtime/worker-loop.ts'
import type { WebhookStore } from './endpoint.ts'
import type { EndpointSender } from './endpoint-sender.ts'

/** What is to be written soon waits for others this long. */
const writeEveryMs = 250
const retryMs = 1_000

export interface ProgressWriter {
  want(sender: EndpointSender, when: 'now' | 'soon'): void
  /** Resolves when everything that there is to write now is written. */
  settled(): Promise<void>
  /** Resolves when everything that the sender has to write is written, or it has ended. Rejects as the store does. */
  flush(sender: EndpointSender): Promise<void>
  /** Writes only what is flushed from now on, so that a stop does not wait for a store that is away. */
  close(): void
}

interface WriterListeners {
  /** The sender's lease is another's, what it has written is lost, or it has disabled its endpoint. */
  readonly onEnd: (sender: EndpointSender) => void
  /** Something was written of which endpoints for operations are told. */
  readonly onNotice: () => void
}

export function progressWriter(
  { save }: Pick<WebhookStore, 'save'>,
  { onEnd, onNotice }: WriterListeners,
  report: TaskReport,
): ProgressWriter {
  const wanting = new Set<EndpointSender>()
  let isUrgent = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  const closing = new AbortController()

  async function write(senders: readonly EndpointSender[]): Promise<void> {
    const parts = senders.flatMap(unwrittenOf)
    if (parts.length === 0) return
    const lost = new Set(await save(parts.map((part) => part.write)))
    for (const { sender, write, written } of parts) {
      if (lost.has(sender.endpointId) || write.disable !== undefined) onEnd(sender)
      else written()
    }
    if (parts.some(({ write: { disable, notice } }) => disable !== undefined || notice !== undefined))
      onNotice()
  }

  /** What ends meanwhile waits for others again, if it is not much: a commit for every two tries took half of the time. */
  async function writeAll(): Promise<void> {
    do {
      const senders = [...wanting]
      wanting.clear()
      isUrgent = false
      try {
        await write(senders)
        report.worked('send_webhooks')
      } catch (error) {
        report.failed('send_webhooks', error)
        for (const sender of senders) wanting.add(sender)
        await pause(retryMs, closing.signal)
        isUrgent = !closing.signal.aborted
      }
    } while (isUrgent)
  }

  function writeNow(): void {
    clearTimeout(timer)
    timer = undefined
    isUrgent = true
    writing ??= writeAll().finally(() => (writing = undefined))
  }

  return {
    want(sender, when) {
      wanting.add(sender)
      if (when === 'now') writeNow()
      else timer ??= setTimeout(writeNow, writeEveryMs).unref()
    },
    async settled() {
      writeNow()
      await writing
    },
    async flush(sender) {
      await writing
      wanting.delete(sender)
      await write([sender])
    },
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}

function unwrittenOf(sender: EndpointSender) {
  const unwritten = sender.unwritten()
  return unwritten === undefined ? [] : [{ sender, ...unwritten }]
}
