/** The settings of `serve` and `demo`, and reading them. */
import type { SettingReader, Setting } from './setting.ts'
import { readRetention } from './retention-settings.ts'
import { connectionSettings, consoleSettings } from './service-settings.ts'
import { settings } from './settings.ts'
import { readWebhooks, webhookSettings, webhookSettingsAt } from './webhook-settings.ts'

/** The port where Prometheus expects exporters; the metrics are not on the public port. */
const defaultMetricsPort = 9464

/**
 * The same flag and variable as in commands that use a service; `serve` knows its address by itself, unless there is a proxy in front.
 */
const publicUrl = {
  ...settings.url,
  description:
    'address at which people reach the service, with the base path; its console needs it behind a proxy',
  fallback: undefined,
  fallbackWords: 'where it listens',
}

/** The settings of `serve` and `demo`, in the order of their help. */
export const serveSettings = [
  settings.data,
  settings.database,
  settings.host,
  settings.port,
  settings.metricsHost,
  settings.metricsPort,
  settings.basePath,
  settings.maxPageSize,
  settings.rateLimit,
  settings.tenantRateLimit,
  settings.concurrentRequests,
  settings.waitingRequests,
  settings.waitingRequestsPerNode,
  ...Object.values(connectionSettings),
  ...Object.values(consoleSettings),
  publicUrl,
  ...Object.values(webhookSettings),
  settings.logLevel,
  settings.catalogue,
  settings.startSequence,
  settings.maxBytes,
  settings.pageMemoryBytes,
  settings.pageFileBytes,
  settings.maxConnections,
  settings.readerTimeout,
  settings.inFlightBytes,
  settings.inFlightBytesPerKey,
  settings.resultDays,
  settings.retainContacts,
  settings.retainProperties,
  settings.expireContacts,
  settings.wait,
  settings.drain,
  settings.erasures,
  settings.tenantExports,
  settings.overrideClock,
  settings.testKeys,
  settings.keyPepper,
  settings.oldKeyPepper,
] as const

/** A demo is read every few seconds by consumers of its own, and lines about that would push its keys off the screen. */
const demoLogLevel = { ...settings.logLevel, fallback: 'warn' } as const satisfies typeof settings.logLevel

/** Of a demo that listens on `host`. */
export function demoSettingsAt(host: string): readonly Setting<unknown>[] {
  const changed: readonly Setting<unknown>[] = [demoLogLevel, ...Object.values(webhookSettingsAt(host, true))]
  return serveSettings.map((setting) => changed.find(({ name }) => name === setting.name) ?? setting)
}

/** As in `serve`: any free port if the service uses any free port, too. */
export function metricsPortOf(reader: SettingReader, port: number): number {
  return reader.value(settings.metricsPort) ?? (port === 0 ? 0 : defaultMetricsPort)
}

/** Reads all of them; the caller finishes the reader. */
export function readServeOptions(reader: SettingReader, { isDemo = false } = {}) {
  const port = reader.value(settings.port)
  const basePath = reader.value(settings.basePath)
  const hasConsole = reader.value(settings.console)
  const host = reader.value(settings.host)
  return {
    data: reader.value(settings.data),
    database: reader.value(settings.database),
    host,
    port,
    metricsHost: reader.value(settings.metricsHost),
    metricsPort: metricsPortOf(reader, port),
    basePath,
    maxPageSize: reader.value(settings.maxPageSize),
    rateLimit: reader.value(settings.rateLimit),
    tenantRateLimit: reader.value(settings.tenantRateLimit),
    concurrentRequests: reader.value(settings.concurrentRequests),
    waitingRequests: reader.value(settings.waitingRequests),
    waitingRequestsPerNode: reader.value(settings.waitingRequestsPerNode),
    keepAliveMs: reader.value(settings.keepAlive),
    trustedProxies: reader.value(settings.trustedProxies),
    corsOrigins: reader.value(settings.corsOrigins),
    plainConnections: reader.value(settings.plainConnections) === 'on',
    console: hasConsole,
    consoleImages: reader.value(settings.consoleImages),
    webhooks: readWebhooks(reader, host, isDemo),
    publicUrl: readPublicUrl(reader, hasConsole ? basePath : undefined),
    logLevel: reader.value(isDemo ? demoLogLevel : settings.logLevel),
    catalogue: reader.value(settings.catalogue),
    startSequence: reader.value(settings.startSequence),
    maxBytes: reader.value(settings.maxBytes),
    pageMemoryBytes: reader.value(settings.pageMemoryBytes),
    pageFileBytes: reader.value(settings.pageFileBytes),
    maxConnections: reader.value(settings.maxConnections),
    readerTimeoutMs: reader.value(settings.readerTimeout),
    inFlightBytes: reader.value(settings.inFlightBytes),
    inFlightBytesPerKey: reader.value(settings.inFlightBytesPerKey),
    retention: readRetention(reader),
    resultDays: reader.value(settings.resultDays),
    waitMs: reader.value(settings.wait),
    drainMs: reader.value(settings.drain),
    erasures: reader.value(settings.erasures),
    tenantExports: reader.value(settings.tenantExports),
    overrideClock: reader.value(settings.overrideClock),
    testKeys: reader.value(settings.testKeys),
    keyPepper: reader.value(settings.keyPepper),
    oldKeyPepper: reader.value(settings.oldKeyPepper),
  }
}

/**
 * `basePath`: `undefined` if the console is off. A service does not know of a path that a proxy removes, and the page of its console
 * would look for its files elsewhere.
 */
function readPublicUrl(reader: SettingReader, basePath: string | undefined): string | undefined {
  const url = reader.value<string | undefined>(publicUrl)
  if (url === undefined || basePath === undefined) return url
  const path = new URL(url).pathname.replace(/\/+$/, '')
  if (path !== basePath) {
    const words = basePath === '' ? 'has no path' : `ends with the base path ${basePath}`
    reader.fault(`--url is "${url}", but with --console it ${words}.`)
  }
  return url
}
