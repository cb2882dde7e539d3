/** Whether the service answers. Every request records it, and the frame shows it. */
import { signal } from '@preact/signals'

export interface Connection {
  /** When the service last answered anything, in milliseconds. */
  readonly answeredAt: number
  /** Since when the service has not answered; `undefined`: it does. */
  readonly awaySince: number | undefined
}

export const connection = signal<Connection>({ answeredAt: Date.now(), awaySince: undefined })

export function recordAnswer(): void {
  connection.value = { answeredAt: Date.now(), awaySince: undefined }
}

export function recordSilence(): void {
  const { answeredAt, awaySince } = connection.value
  connection.value = { answeredAt, awaySince: awaySince ?? Date.now() }
}
