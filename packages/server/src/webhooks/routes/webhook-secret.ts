/** Secrets of endpoints: made, sealed for the store, and opened to sign with (PROTOCOL §16.1). */
import { uuidV7 } from '@property-events/protocol'
import type { Pepper } from '../../keys/index.ts'
import type { EndpointRecord, SealedSecret } from '../endpoint.ts'
import { newSecret, openSecret, sealSecret } from '../secret.ts'
import { signingSecrets } from './webhook-answer.ts'

interface MadeSecret {
  /** Shown once. */
  readonly text: string
  readonly stored: SealedSecret
}

/** Sealed with the first of the peppers, which is the one for what is new. */
export function makeSecret(peppers: readonly Pepper[], endpointId: string, nowMs: number): MadeSecret {
  const [pepper] = peppers
  if (pepper === undefined) throw new Error('a service has no pepper')
  const text = newSecret()
  const sealed = sealSecret(pepper, endpointId, text)
  const { pepperId } = pepper
  return { text, stored: { secretId: uuidV7(nowMs), sealed, pepperId, createdMs: nowMs, endsMs: undefined } }
}

/** What requests are signed with now, the newest first. Empty: the endpoint came with a copy, or from another pepper. */
export function openedSecrets(
  peppers: readonly Pepper[],
  endpoint: Pick<EndpointRecord, 'endpointId' | 'secrets'>,
  nowMs: number,
): readonly string[] {
  return signingSecrets(endpoint, nowMs).flatMap(({ sealed, pepperId }) => {
    const pepper = peppers.find((one) => one.pepperId === pepperId)
    return pepper === undefined ? [] : (openSecret(pepper, endpoint.endpointId, sealed) ?? [])
  })
}
