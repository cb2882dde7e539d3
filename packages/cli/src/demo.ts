/** What `demo` does once its service listens: loads the market, announces it, and keeps it changing and read. */
import { feeds, parseKeyText } from '@property-events/protocol'
import { pepperForNew, readPepperUse } from '@property-events/server'
import type { Peppers } from '@property-events/server'
import { consoleLink } from './console-link.ts'
import type { ConsoleLink } from './console-link.ts'
import { demoKeys } from './demo-keys.ts'
import type { DemoKeys } from './demo-keys.ts'
import { demoVariables } from './demo-variables.ts'
import { createDemoTenants, findMarket, isDemoLoaded, loadDemo } from './load-demo.ts'
import type { LoadedMarket } from './load-demo.ts'
import { lastSaleMs } from './market/demo-market.ts'
import { nowhere } from './market/media.ts'
import { marketTenants } from './market/tenants.ts'
import { storeFlags } from './open-store.ts'
import type { Output } from './output.ts'
import { commandLine } from './program-name.ts'
import { createProgress } from './progress.ts'
import type { ServeStage } from './serve-stage.ts'
import type { StartedService } from './start-service.ts'
import { boxText } from './terminal-text.ts'

export const demo: ServeStage = async (
  started,
  { output, flags },
  { data, consoleFolder, publicUrl },
  signal,
) => {
  const { service, storage, peppers } = started
  const store = storeFlags(flags, data)
  await createDemoTenants(storage, data, store)
  const mediaUrl = `${service.url}/pictures`
  const found = await findMarket(storage, mediaUrl)
  if (found !== 'earlierVersion' && !(await isDemoLoaded(storage, found))) {
    const progress = createProgress(output, 'events loaded')
    if (!output.json) output.say('Loading the demo market …')
    await loadDemo({
      storage,
      publisher: service.publisher,
      market: found,
      signal,
      onProgress: (loaded) => progress.update(loaded, undefined),
    })
    progress.end()
  }
  if (signal.aborted) return
  const keys = await demoKeys(data, storage, peppers, marketTenants, service.url)
  const link =
    consoleFolder === undefined
      ? undefined
      : await consoleLink(storage, parseKeyText(keys.adminKey)?.keyId ?? '', publicUrl ?? service.url)
  await announce(output, service, keys, { store, data, link })
  const market = found === 'earlierVersion' ? { untilMs: lastSaleMs, mediaUrl: nowhere } : found
  if (!output.json && market.mediaUrl !== mediaUrl) output.say(picturesElsewhere(market))
  if (flags['live'] === false) return
  await keepAlive(started, {
    data,
    market: { ...market, newMediaUrl: mediaUrl },
    signal,
    say: (line) => output.say(line),
  })
}

interface LiveDemo {
  /** The data folder. */
  readonly data: string
  readonly market: LoadedMarket & { readonly newMediaUrl: string }
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

/** Loaded only now, when everything is announced: a start takes no longer for it. */
async function keepAlive(
  { service: { publisher, url }, storage, peppers }: StartedService,
  { data, market, signal, say }: LiveDemo,
): Promise<void> {
  const [{ runLive }, { runConsumers }, { consumerKeys }] = await Promise.all([
    import('./run-live.ts'),
    import('./run-consumers.ts'),
    import('./demo-consumers.ts'),
  ])
  const consumers = await consumerKeys(data, storage, await pepperOf(storage, peppers))
  await Promise.all([
    runLive({ storage, publisher, market, signal, say }),
    runConsumers({ url, storage, consumers, signal }),
  ])
}

async function pepperOf(storage: StartedService['storage'], peppers: Peppers) {
  return pepperForNew(peppers, await readPepperUse(storage)) ?? peppers[0]
}

function picturesElsewhere({ mediaUrl }: LoadedMarket): string {
  if (mediaUrl === nowhere) {
    const fresh = commandLine('demo --data ./new-demo')
    return `This market was made by an earlier version: it ends in 2022, and its photographs lead nowhere. For an up-to-date one: ${fresh}`
  }
  const { origin, port } = new URL(mediaUrl)
  return `The photographs of this market are at ${origin}, where it was first started. To see them, start it there again (--port ${port === '' ? 80 : port}), or start a new one in an empty folder (--data).`
}

interface Place {
  /** Flags that find the store, such as ` --data ./demo`. */
  readonly store: string
  /** The data folder. */
  readonly data: string
  /** Signs the operator in to the console; `undefined`: it is off. */
  readonly link: ConsoleLink | undefined
}

async function announce(
  output: Output,
  { url, metricsUrl }: StartedService['service'],
  keys: DemoKeys,
  { store, data, link }: Place,
): Promise<void> {
  if (output.json) return output.writeJson({ url, metricsUrl, ...(link && { console: link.url }), ...keys })
  const width = Math.max(...keys.tenants.map((tenant) => tenant.name.length))
  const [first] = keys.tenants
  await output.write(
    boxText([
      `Property Events demo  ${url}`,
      ...(link === undefined ? [] : [`Console               ${link.url}`]),
      `Documentation         ${url}/docs`,
      `Metrics               ${metricsUrl ?? 'off'}`,
      '',
      'Keys (kept in demo-keys.json of the data folder)',
      ...keys.tenants.flatMap(({ name, readKey, publishKey }) => [
        `  ${name.padEnd(width)}  read     ${readKey}`,
        `  ${''.padEnd(width)}  publish  ${publishKey}`,
      ]),
      `  ${'(operator)'.padEnd(width)}  admin    ${keys.adminKey}`,
    ]),
  )
  if (first === undefined) return
  // Outside the frame, so that it can be copied.
  await output.write(
    [
      'Try it in another terminal:',
      demoVariables({ url, data, tenant: first }).trimEnd(),
      `curl -H "x-api-key: $PROPERTY_EVENTS_KEY" "$PROPERTY_EVENTS_URL${feeds.property.eventsPath}/getevents?pageSize=3"`,
      'The first line again, for any other terminal in this folder:',
      `eval "$(${commandLine('env', store)})"`,
      '',
    ].join('\n'),
  )
}
