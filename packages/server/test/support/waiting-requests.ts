/** Requests that wait for events, as the metrics of their node count them. */
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

type WaitingKind = 'long_poll' | 'heads' | 'stream'

/** How many of that kind wait at this moment. */
export async function waitingRequests({ service }: TestService, kind: WaitingKind): Promise<number> {
  const text = await (await fetch(service.metricsUrl ?? '')).text()
  const count = new RegExp(`^property_events_waiting_requests\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(
    text,
  )?.[1]
  if (count === undefined) throw new Error(`the metrics count no requests of kind ${kind}`)
  return Number(count)
}

/** Asks, and resolves once one more request of that kind waits, or once it is answered. Of one service, one after the other. */
export async function askAndWait<T>(
  service: TestService,
  kind: WaitingKind,
  ask: () => Promise<T>,
): Promise<{ readonly answer: Promise<T>; readonly isAnswered: () => boolean }> {
  const before = await waitingRequests(service, kind)
  const answer = ask()
  let answered = false
  const note = () => void (answered = true)
  answer.then(note, note)
  await until(async () => answered || (await waitingRequests(service, kind)) > before, {
    what: `a request of kind ${kind} that waits`,
  })
  return { answer, isAnswered: () => answered }
}
