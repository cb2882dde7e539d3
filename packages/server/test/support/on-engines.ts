import { after, before, describe } from 'node:test'
import { startTestService, testEngines } from './test-service.ts'
import type { TestEngine, TestService, TestServiceOptions } from './test-service.ts'

/** More cycles of the same tests. */
export const isLongRun = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'

/** The engines to run on: those named in PROPERTY_EVENTS_TEST_ENGINES, if it is set. */
function chosenEngines(): readonly TestEngine[] {
  const named = process.env['PROPERTY_EVENTS_TEST_ENGINES']?.split(',')
  return named === undefined ? testEngines : testEngines.filter((engine) => named.includes(engine))
}

export interface OnEnginesOptions extends Omit<TestServiceOptions, 'engine' | 'plainConnections'> {
  /** Once more by Node's HTTP alone, too. If not told otherwise: in the long run, since few features are about connections. */
  readonly byNode?: boolean
}

/**
 * The same tests on every engine, each with a service of its own that is there before the first test; and once more by Node's HTTP
 * alone, on the engine that costs least: engines know nothing of transports. SQLite writes on a thread of its own in the long run only:
 * 0.3 s of the processor to start, and the tests of the command line have it always.
 */
export function onEngines(
  title: string,
  { byNode = isLongRun, ...options }: OnEnginesOptions,
  tests: (service: () => TestService, plainConnections: boolean) => void,
): void {
  const engines = chosenEngines()
  const isTriedAlone = byNode && engines.includes('sqlite')
  for (const engine of engines) {
    const given = { ...options, engine, writesOn: isLongRun ? 'ownThread' : 'thisThread' } as const
    onService(`${title}, on ${engine}`, given, (service) => tests(service, true))
  }
  if (!isTriedAlone) return
  const alone = { ...options, plainConnections: false }
  onService(`${title}, by Node’s HTTP alone`, alone, (service) => tests(service, false))
}

/** The same tests over both transports; they start their services themselves, with these options among their own. */
export function onTransports(
  title: string,
  tests: (transport: Required<Pick<TestServiceOptions, 'plainConnections'>>) => void,
): void {
  describe(title, () => tests({ plainConnections: true }))
  describe(`${title}, by Node’s HTTP alone`, () => tests({ plainConnections: false }))
}

function onService(
  title: string,
  options: TestServiceOptions,
  tests: (service: () => TestService) => void,
): void {
  describe(title, () => {
    let service: TestService | undefined
    before(async () => {
      service = await startTestService(options)
    })
    after(async () => {
      await service?.stop()
    })
    tests(() => {
      if (service === undefined) throw new Error('the service did not start')
      return service
    })
  })
}
