/**
 * How late the event loop is. Node measures it with a timer, every 10 ms if not told otherwise: 200 system calls a second, which took 0.35 %
 * of a core at rest, two thirds of what a service without any reader took. Ten times a second is enough for what is looked for: a loop that
 * is held for half a second.
 */
export const lagLookEveryMs = 100

/** All of these contain the time between two looks. The other two are a spread, and the lag of the scrape itself. */
const withInterval = /^nodejs_eventloop_lag_(?:min|max|mean|p\d+)_seconds$/

interface Metric {
  readonly name: string
  readonly values: readonly { readonly value: number }[]
}

/** The metric without the time between two looks, so that 0 means that the loop was never late, however often it is looked at. */
export function lagAlone<One extends Metric>(
  metric: One,
): One | (Omit<One, 'values'> & Pick<Metric, 'values'>) {
  if (!withInterval.test(metric.name)) return metric
  return { ...metric, values: metric.values.map((one) => ({ ...one, value: lateOnly(one.value) })) }
}

/** Where nothing was measured since the last scrape, Node gives no number, or its greatest one. */
function lateOnly(seconds: number): number {
  const isMeasured = seconds < 1e6
  return isMeasured ? Math.max(0, seconds - lagLookEveryMs / 1_000) : 0
}
