/** Calls `step` again and again for some seconds and prints a load report: a request is one commit. */
import type { LoadReport } from '../support/wrk.ts'

export async function timedLoop(
  seconds: number,
  bytesPerStep: number,
  step: () => void | Promise<unknown>,
): Promise<void> {
  const took: number[] = []
  const start = performance.now()
  const end = start + seconds * 1_000
  let now = start
  while (now < end) {
    await step()
    const after = performance.now()
    took.push(after - now)
    now = after
  }
  took.sort((a, b) => a - b)
  const at = (part: number): number => took[Math.floor((took.length - 1) * part)] ?? 0
  const report: LoadReport = {
    requests: took.length,
    seconds: (now - start) / 1_000,
    bytes: took.length * bytesPerStep,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    errors: 0,
  }
  console.log(JSON.stringify(report))
}
