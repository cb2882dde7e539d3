/** What `demo` does once its service listens: loads the market, announces it, and keeps it changing and read. */
import { createDemoTenants, findMarket, isDemoLoaded, loadDemo, marketTenants } from '@property-events/demo'
import type { LoadedMarket } from '@property-events/demo'
import { demoKeys } from '@property-events/demo/keys'
import type { DemoKeys } from '@property-events/demo/keys'
import { feeds, parseKeyText } from '@property-events/protocol'
import { pepperForNew, readPepperUse } from '@property-events/server'
import { consoleLink } from '../console/console.ts'
import type { ConsoleLink } from '../console/console.ts'
import { storeFlags } from '../open-store.ts'
import type { Output } from '../output.ts'
import { commandLine } from '../program-name.ts'
import { createProgress } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { boxText } from '../terminal-text.ts'
import { demoVariables } from './env.ts'
import type { ServeStage, StartedService } from './start-service.ts'

export const demo: ServeStage = async (
  started,
  { output, flags },
  { data, consoleFolder, publicUrl },
  signal,
) => {
  const { service, storage, peppers } = started
  const store = storeFlags(flags, data)
  if ((await createDemoTenants(storage)) === 'otherTenants') {
    throw new Refusal(
      `The store in ${data} holds other tenants, and the demo would be mixed with them. Use \`${commandLine('serve', store)}\`, or name another folder with --data.`,
    )
  }
  const mediaUrl = `${service.url}/pictures`
  const market = await findMarket(storage, mediaUrl)
  if (!(await isDemoLoaded(storage, market))) {
    const progress = createProgress(output, 'events loaded')
    if (!output.json) output.say('Loading the demo market …')
    const refused = await loadDemo({
      storage,
      publisher: service.publisher,
      market,
      signal,
      onProgress: (loaded) => progress.update(loaded, undefined),
    })
    progress.end()
    if (refused !== undefined)
      throw new Refusal(`The demo market could not be stored (${refused}). Name an empty folder with --data.`)
  }
  if (signal.aborted) return
  const keys = await demoKeys(data, storage, peppers, marketTenants, service.url)
  const link =
    consoleFolder === undefined
      ? undefined
      : await consoleLink(storage, parseKeyText(keys.adminKey)?.keyId ?? '', publicUrl ?? service.url)
  await announce(output, service, keys, { store, data, link })
  if (!output.json && market.mediaUrl !== mediaUrl) output.say(photographsElsewhere(market))
  if (flags['live'] === false) return
  // Loaded only now, when everything is announced: a start takes no longer for it.
  const { keepLive } = await import('@property-events/demo/live')
  await keepLive({
    url: service.url,
    storage,
    publisher: service.publisher,
    pepper: pepperForNew(peppers, await readPepperUse(storage)) ?? peppers[0],
    folder: data,
    market: { ...market, newMediaUrl: mediaUrl },
    signal,
    say: (line) => output.say(line),
  })
}

function photographsElsewhere({ mediaUrl }: LoadedMarket): string {
  const { origin, port } = new URL(mediaUrl)
  return `The photographs of this market are at ${origin}, where it was first started. To see them, start it there again (--port ${port === '' ? 80 : port}), or start a new one in an empty folder (--data).`
}

interface DemoLocation {
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
  { store, data, link }: DemoLocation,
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
