import { after, before, describe } from 'node:test'
import { startTestService, testEngines } from './test-service.ts'
import type { TestEngine, TestService, TestServiceOptions } from './test-service.ts'

/** The engines to run on: all, or those named in PROPERTY_EVENTS_TEST_ENGINES. */
function chosenEngines(): readonly TestEngine[] {
  const named = process.env['PROPERTY_EVENTS_TEST_ENGINES']?.split(',')
  if (named === undefined) return testEngines
  return [...testEngines, 'threads' as const].filter((engine) => named.includes(engine))
}

/** The same tests on every engine, each with a service of its own that is there before the first test. */
export function onEngines(
  title: string,
  options: Omit<TestServiceOptions, 'engine'>,
  tests: (service: () => TestService, engine: TestEngine) => void,
): void {
  for (const engine of chosenEngines()) {
    describe(`${title}, on ${engine}`, () => {
      let service: TestService | undefined
      before(async () => {
        service = await startTestService({ ...options, engine })
      })
      after(async () => {
        await service?.stop()
      })
      tests(() => {
        if (service === undefined) throw new Error('the service did not start')
        return service
      }, engine)
    })
  }
}

/** More cycles of the same tests. */
export const isLongRun = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
