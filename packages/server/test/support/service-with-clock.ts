/** A service whose clock stands still until it is told otherwise. */
import { startTestService } from './test-service.ts'
import type { TestService, TestServiceOptions } from './test-service.ts'

/** Runs the test with a service of its own, which is stopped afterwards; `advance` moves its clock. */
export async function withServiceClock(
  options: Omit<TestServiceOptions, 'clock'>,
  test: (service: TestService, advance: (ms: number) => void) => Promise<void>,
): Promise<void> {
  let nowMs = Date.now()
  const service = await startTestService({ ...options, clock: () => nowMs })
  try {
    await test(service, (ms) => {
      nowMs += ms
    })
  } finally {
    await service.stop()
  }
}
