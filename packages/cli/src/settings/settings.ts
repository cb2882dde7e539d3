/** All settings, as a flag or as a `PROPERTY_EVENTS_*` variable: one schema for both. */
import { resolve } from 'node:path'
import { existsSync, readFileSync } from 'node:fs'
import { defaultLimits, logLevels } from '@property-events/server/plain'
import { catalogueFault, catalogues } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import {
  connectionSettings,
  consoleSettings,
  fileSettings,
  memorySettings,
  sandboxSettings,
} from './service-settings.ts'
import { clientSettings } from './client-settings.ts'
import { defaultRate, readRateLimit } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { retentionSettings } from './retention-settings.ts'
import { duration, fileVariableOf, oneOf, onOff, text, variableOf, wholeNumber } from './setting.ts'
import type { Setting } from './setting.ts'
import { webhookSettings } from './webhook-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'

export const settings = {
  data: text(
    {
      name: 'data',
      argument: 'folder',
      description: 'folder of the store',
      expected: 'the path of a folder',
    },
    resolve('data'),
    (path) => (path === '' || path.includes('\0') ? undefined : resolve(path)),
  ),
  database: text(
    {
      name: 'database',
      argument: 'url',
      description: 'PostgreSQL database that holds the store, in place of a file in the data folder',
      fallbackWords: 'none',
      secret: true,
      expected: 'an address such as postgres://user:password@host:5432/database',
    },
    undefined,
    (url) => (/^postgres(ql)?:\/\/\S+$/.test(url) && URL.canParse(url) ? url : undefined),
  ),
  host: text(
    {
      name: 'host',
      argument: 'address',
      description: 'address to listen on; 0.0.0.0 for all',
      expected: 'an IP address or a host name',
    },
    '127.0.0.1',
    (host) => (/^[0-9A-Za-z.:_%-]{1,255}$/.test(host) ? host : undefined),
  ),
  port: wholeNumber(
    { name: 'port', description: 'port to listen on; 0 for any free one' },
    { from: 0, to: 65_535 },
    8080,
  ),
  metricsHost: text(
    {
      name: 'metrics-host',
      argument: 'address',
      description: 'address of metrics and health checks',
      expected: 'an IP address or a host name',
    },
    '127.0.0.1',
    (host) => (/^[0-9A-Za-z.:_%-]{1,255}$/.test(host) ? host : undefined),
  ),
  metricsPort: wholeNumber(
    {
      name: 'metrics-port',
      description: 'port of metrics and health checks',
      fallbackWords: '9464, or any free one with --port 0',
    },
    { from: 0, to: 65_535 },
    undefined,
  ),
  basePath: text(
    {
      name: 'base-path',
      argument: 'path',
      description: 'prefix of every path, such as /feeds',
      fallbackWords: 'none',
      expected: 'a path such as /feeds, of letters, digits and - . _ ~ between slashes',
    },
    '',
    readBasePath,
  ),
  maxPageSize: wholeNumber(
    { name: 'max-page-size', description: 'largest pageSize a client may ask for' },
    { from: 1, to: 10_000 },
    defaultLimits.maxPageSize,
  ),
  rateLimit: text<RateLimit, RateLimit>(
    {
      name: 'rate-limit',
      argument: 'on|off|rate/burst',
      description: 'requests a second and burst of each key, over all nodes together',
      fallbackWords: '50/500',
      expected: 'on, off, or requests a second and burst such as 50/500',
    },
    defaultRate,
    (written) => (written === 'on' ? defaultRate : readRateLimit(written)),
  ),
  tenantRateLimit: text<RateLimit, RateLimit | undefined>(
    {
      name: 'tenant-rate-limit',
      argument: 'off|rate/burst',
      description: 'requests a second and burst of all keys of a tenant together, over all nodes',
      fallbackWords: 'five times --rate-limit',
      expected: 'off, or requests a second and burst such as 250/2500',
    },
    undefined,
    readRateLimit,
  ),
  concurrentRequests: wholeNumber(
    {
      name: 'concurrent-requests',
      description: 'requests of one key that may wait at the same time, on one node',
    },
    { from: 1, to: 1_000_000 },
    200,
  ),
  waitingRequests: wholeNumber(
    {
      name: 'waiting-requests',
      description: 'requests of one key that may wait for events at the same time, on one node',
    },
    { from: 1, to: 1_000_000 },
    20,
  ),
  waitingRequestsPerNode: wholeNumber(
    {
      name: 'waiting-requests-per-node',
      description: 'requests of all keys that may wait for events at the same time, on one node',
    },
    { from: 1, to: 1_000_000 },
    2_000,
  ),
  ...connectionSettings,
  ...consoleSettings,
  logLevel: oneOf({ name: 'log-level', description: 'what the log on stderr contains' }, logLevels, 'info'),
  catalogue: text(
    {
      name: 'catalogue',
      argument: 'default|published-0|file',
      description: 'event types of a new store; an old one keeps its own',
      fallbackWords: 'default',
      expected: 'default, published-0, or the path of a JSON file with a catalogue of event types',
    },
    undefined,
    readCatalogue,
  ),
  startSequence: wholeNumber(
    {
      name: 'start-sequence',
      description: 'the first event of a new store gets the number after this one',
      fallbackWords: '0',
    },
    { from: 0, to: 2 ** 52 },
    undefined,
  ),
  keyPepper: text(
    {
      name: 'key-pepper',
      description: 'secret with which keys are hashed',
      fallbackWords: 'the content of the file "pepper" in the data folder, created at the first start',
      secret: true,
      variableOnly: true,
      expected: 'at least 16 random characters',
    },
    undefined,
    (pepper) => (pepper.length >= 16 ? pepper : undefined),
  ),
  oldKeyPepper: text(
    {
      name: 'old-key-pepper',
      description: 'the previous pepper, while keys that need it are still in use',
      fallbackWords: 'the content of the file "pepper.old" in the data folder, if there is one',
      secret: true,
      variableOnly: true,
      expected: 'at least 16 random characters',
    },
    undefined,
    (pepper) => (pepper.length >= 16 ? pepper : undefined),
  ),
  maxBytes: wholeNumber(
    {
      name: 'max-bytes',
      description: 'size the store may grow to; beyond it publishing is refused',
      fallbackWords: 'no limit',
    },
    { from: 2 ** 20, to: Number.MAX_SAFE_INTEGER },
    undefined,
  ),
  pageMemoryBytes: wholeNumber(
    { name: 'page-memory-bytes', description: 'bytes of cached pages in memory' },
    { from: 0, to: 2 ** 40 },
    64 * 2 ** 20,
  ),
  pageFileBytes: wholeNumber(
    { name: 'page-file-bytes', description: 'bytes of cached pages in a file beside the store; 0 for none' },
    { from: 0, to: 2 ** 44 },
    8 * 2 ** 30,
  ),
  ...memorySettings,
  ...retentionSettings,
  wait: duration(
    {
      name: 'wait',
      description: 'how long to wait at the start for a database that does not answer',
      fallbackWords: '60s',
    },
    60_000,
  ),
  drain: duration(
    {
      name: 'drain',
      description:
        'after SIGTERM, how long to keep serving while /readyz says that it is stopping; 0 for not at all',
      fallbackWords: '5s',
    },
    5_000,
  ),
  ...fileSettings,
  overrideClock: onOff({
    name: 'override-clock',
    description: 'publish although the last event is more than 5 minutes ahead of the clock',
  }),
  ...clientSettings,
  ...sandboxSettings,
  ...webhookSettings,
} as const

/** The demo's second key, which `env` sets for the documents. Commands take it from `--key` alone. */
export const publishKeyVariable = 'PROPERTY_EVENTS_PUBLISH_KEY'

export const variableNames: readonly string[] = [
  ...Object.values(settings).flatMap((setting: Setting<unknown>) =>
    [variableOf(setting), fileVariableOf(setting) ?? []].flat(),
  ),
  publishKeyVariable,
]

function readBasePath(path: string): string | undefined {
  if (path === '' || path === '/') return ''
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  return /^(\/[A-Za-z0-9._~-]{1,64}){1,8}$/.test(trimmed) && !/\/\.{1,2}(\/|$)/.test(trimmed)
    ? trimmed
    : undefined
}

/** A preset by its name, or a JSON file (D12); `undefined` if it is neither. Refuses a file that is not a catalogue, with the fault. */
function readCatalogue(nameOrPath: string): EventTypeCatalogue | undefined {
  if (nameOrPath === 'default' || nameOrPath === 'published-0') return catalogues[nameOrPath]
  if (!existsSync(nameOrPath)) return undefined
  const name = `The catalogue ${plainText(nameOrPath)}`
  const value = parseJson(readText(nameOrPath, name), name)
  const fault = catalogueFault(value)
  if (fault !== undefined || !isCatalogue(value))
    throw new Refusal(`In the catalogue ${plainText(nameOrPath)}: ${fault ?? ''}`)
  return { property: value.property, contact: value.contact }
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Refusal(
      `${name} cannot be read (${reasonOf(error)}). Name a JSON file that this user may read.`,
    )
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`${name} is not JSON: ${reasonOf(error)}. Correct the file, or name another.`)
  }
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : String(error))
}

function isCatalogue(value: unknown): value is EventTypeCatalogue {
  return catalogueFault(value) === undefined
}
