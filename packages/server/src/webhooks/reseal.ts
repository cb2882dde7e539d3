/** Seals the secrets of webhooks with another pepper (docs/decisions/0014): keys are hashed anew when they are used, and these at once. */
import type { Pepper } from '../keys/pepper.ts'
import type { OwnedSecret, WebhookStore } from './endpoint.ts'
import { openSecret, sealSecret } from './secret.ts'

const secretsAtOnce = 10_000

/** Of all endpoints, also those that are paused or disabled: they may be enabled again. */
export async function* everySecret(webhooks: Pick<WebhookStore, 'secrets'>): AsyncGenerator<OwnedSecret> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const page: readonly OwnedSecret[] = await webhooks.secrets(after, secretsAtOnce)
    yield* page
    after = page.at(-1)?.secretId
  }
}

/** Returns how many are left: sealed with a pepper that is not given, or damaged. */
export async function resealSecrets(
  webhooks: Pick<WebhookStore, 'secrets' | 'reseal'>,
  peppers: readonly Pepper[],
  current: Pepper,
): Promise<number> {
  let left = 0
  for await (const { endpointId, secretId, sealed, pepperId } of everySecret(webhooks)) {
    if (pepperId === current.pepperId) continue
    const pepper = peppers.find((one) => one.pepperId === pepperId)
    const secret = pepper && openSecret(pepper, endpointId, sealed)
    if (secret === undefined) left += 1
    else {
      const to = { sealed: sealSecret(current, endpointId, secret), pepperId: current.pepperId }
      await webhooks.reseal(secretId, pepperId, to)
    }
  }
  return left
}
