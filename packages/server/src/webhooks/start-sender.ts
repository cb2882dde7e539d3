/** Makes the sender of a leased endpoint. What it needs is loaded with the first one, so that a service without endpoints does not hold it. */
import type { KeyReading } from '../keys/key.ts'
import type { Pepper } from '../keys/pepper.ts'
import type { WebhookStore, Lease } from './endpoint.ts'
import { EndpointSender } from './endpoint-sender.ts'
import type { SenderParts } from './endpoint-sender.ts'
import { feedSource } from './feed-source.ts'
import type { FeedSourceParts } from './feed-source.ts'
import { noticeSource } from './notice-source.ts'
import { addressCheck } from './receiver-address.ts'
import { receiverAt } from './receiver.ts'
import type { Receiver, WebhookOptions } from './receiver.ts'
import { openedSecrets } from './routes/webhook-secret.ts'

export interface StartParts
  extends FeedSourceParts, Pick<SenderParts, 'clock' | 'report' | 'want' | 'turn' | 'onTry'> {
  readonly webhooks: WebhookStore
  readonly peppers: readonly Pepper[]
  readonly options: WebhookOptions
}

/** `unsigned`: none of its secrets can be opened here, as after a copy. `reading`: that of its key. */
export function startSender(
  parts: StartParts,
  lease: Lease,
  reading: KeyReading | undefined,
): EndpointSender | 'unsigned' {
  const { webhooks, options, clock, peppers } = parts
  const { endpoint } = lease
  const { endpointId, settings } = endpoint
  const secrets = signingSecrets(peppers, endpoint, clock)
  if (secrets().length === 0) return 'unsigned'
  const source =
    settings.events === 'operations' ? noticeSource(webhooks, endpoint) : feedSource(parts, endpoint, reading)
  return new EndpointSender({
    ...parts,
    lease,
    source,
    receiver: checkedReceiver(options, settings.url, settings.concurrency),
    secrets,
    answers: options.answers,
    version: (subjectId) => webhooks.version(endpointId, subjectId),
  })
}

/** Opened once: deriving the key of a seal took a tenth of the time of a message. */
function signingSecrets(
  peppers: readonly Pepper[],
  endpoint: Lease['endpoint'],
  clock: () => number,
): () => readonly string[] {
  const { endpointId, secrets } = endpoint
  const opened = secrets.map((secret) => ({
    endsMs: secret.endsMs ?? Infinity,
    texts: openedSecrets(peppers, { endpointId, secrets: [secret] }, clock()),
  }))
  return () => {
    const nowMs = clock()
    return opened.flatMap(({ endsMs, texts }) => (endsMs > nowMs ? texts : []))
  }
}

/** Whoever operates the service may have narrowed what addresses are allowed since the endpoint was made. */
function checkedReceiver(options: WebhookOptions, url: string, concurrency: number): Receiver {
  const check = addressCheck(options)
  const checked = check.url(url)
  if (checked.kind === 'accepted') return receiverAt(checked.url, check, concurrency)
  const { detail } = checked
  return { post: async () => ({ kind: 'unreachable', detail }), close: () => undefined }
}
