/** Seals the secrets of webhooks with another pepper (docs/decisions/0014): keys are hashed anew when they are used, and these at once. */
import type { Pepper } from '../keys/pepper.ts'
import type { WebhookStore } from './endpoint.ts'
import { openSecret, sealSecret } from './secret.ts'

const secretsAtOnce = 10_000

/** Returns how many are left: sealed with a pepper that is not given, or damaged. */
export async function resealSecrets(
  webhooks: Pick<WebhookStore, 'secretsWithOtherPepper' | 'reseal'>,
  peppers: readonly Pepper[],
  current: Pepper,
): Promise<number> {
  let left = 0
  for (const { endpointId, secretId, sealed, pepperId } of await webhooks.secretsWithOtherPepper(
    current.pepperId,
    secretsAtOnce,
  )) {
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
