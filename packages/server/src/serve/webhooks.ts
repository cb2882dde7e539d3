/** Webhooks of a service: what their operations take, and what sends them from this node. */
import type { WebhookOptions } from '../webhooks/receiver.ts'
import type { WebhookWorker, WebhookWorkerParts } from '../webhooks/worker.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Outages } from './outages.ts'
import type { ServiceParts } from './service-parts.ts'

const publicReceivers: WebhookOptions = { allowHttp: false, networks: [], answers: 'public' }

/** To whom this node sends, and who is told that an endpoint was made or changed. */
export function webhooksOf({ storage, peppers, webhooks = publicReceivers }: ServiceParts) {
  let onChange = (): void => undefined
  const webhookOptions: WebhookOptions | 'off' = webhooks
  return {
    webhooks: storage.webhooks,
    webhookOptions,
    peppers,
    webhookChanged: () => onChange(),
    onWebhookChange: (listener: () => void) => void (onChange = listener),
  }
}

type SendingContext = Omit<WebhookWorkerParts, 'storage' | 'nodeId' | 'options' | 'report' | 'onTry'> &
  Pick<ReturnType<typeof webhooksOf>, 'webhookOptions' | 'onWebhookChange'> & {
    readonly metrics: Pick<Metrics, 'webhooks'>
    readonly outages: Outages
  }

/** Begins to send, under the node's id; `undefined`: this node sends none, and what sends them is not loaded. */
export async function startWebhooks(
  context: SendingContext,
  storage: ServiceParts['storage'],
  nodeId: string,
): Promise<WebhookWorker | undefined> {
  const { webhookOptions: options, onWebhookChange, metrics, outages: report } = context
  if (options === 'off') return undefined
  const { sendWebhooks } = await import('../webhooks/worker.ts')
  const onTry = (...tried: Parameters<typeof metrics.webhooks.tried>) => metrics.webhooks.tried(...tried)
  const worker = sendWebhooks({ ...context, storage, nodeId, options, report, onTry })
  metrics.webhooks.watch(() => worker.counts())
  onWebhookChange(() => worker.nudge())
  return worker
}
