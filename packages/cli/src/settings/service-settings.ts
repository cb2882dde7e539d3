/** How clients reach a node, what they may make it hold, and what it keeps beside the store: part of the settings of `serve`. */
import { resolve } from 'node:path'
import { duration, oneOf, onOff, text, wholeNumber } from './setting.ts'

export const connectionSettings = {
  keepAlive: duration(
    {
      name: 'keep-alive',
      description:
        'how long a connection without a request stays open; should be longer than load balancers keep it',
      fallbackWords: '65s',
    },
    65_000,
    { fromMs: 1_000 },
  ),
  trustedProxies: wholeNumber(
    {
      name: 'trusted-proxies',
      description: 'number of your own proxies in front, whose X-Forwarded-For is trusted',
    },
    { from: 0, to: 10 },
    0,
  ),
  corsOrigins: text<readonly string[], readonly string[]>(
    {
      name: 'cors-origins',
      argument: 'origins',
      description: 'origins whose web pages may call the service in a browser, with commas between them',
      fallbackWords: 'none',
      expected: 'origins such as https://www.example.com, with commas between them; not *',
    },
    [],
    readOrigins,
  ),
  plainConnections: oneOf(
    {
      name: 'plain-connections',
      description:
        'answer plain requests on the bare socket; off: use Node’s HTTP for all, with the same answers',
    },
    ['on', 'off'],
    'on',
  ),
} as const

/**
 * Origins separated by commas, each as browsers write it (RFC 6454): scheme, host and, unless it is the scheme's default, the port.
 * `undefined`: one of them is not an origin. `*` is not accepted: the allowed pages have to be named.
 */
function readOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((part) => originOf(part.trim()))
  const known = origins.filter((origin) => origin !== undefined)
  return known.length === origins.length ? [...new Set(known)] : undefined
}

/** People copy a trailing slash from an address. */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}

export const consoleSettings = {
  console: onOff({
    name: 'console',
    description: 'people work with the service in a browser, at /console; a demo has it on',
  }),
  consoleImages: text<readonly string[], readonly string[]>(
    {
      name: 'console-images',
      argument: 'hosts',
      description: 'hosts whose photographs the console shows, over https, with commas between them',
      fallbackWords: 'none',
      expected: 'hosts such as images.example.com or *.example.com, with commas between them',
    },
    [],
    readHosts,
  ),
} as const

/** In lower case. They become part of a content security policy, so nothing else is allowed in them. */
function readHosts(written: string): readonly string[] | undefined {
  const hosts = written.split(',').map((host) => host.trim().toLowerCase())
  return hosts.every((host) => hostPattern.test(host)) ? [...new Set(hosts)] : undefined
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostPattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label}){1,10}(?::\\d{1,5})?$`)

export const fileSettings = {
  erasures: text(
    {
      name: 'erasures',
      argument: 'file',
      description:
        'file outside the store that lists what was erased, so that it can be erased again after a restore',
      fallbackWords: 'none',
      expected: 'the path of a file',
    },
    undefined,
    (path) => (path === '' || path.includes('\0') ? undefined : resolve(path)),
  ),
  tenantExports: text(
    {
      name: 'tenant-exports',
      argument: 'folder',
      description: 'folder to which a tenant is exported before it is deleted over HTTP',
      fallbackWords: 'none: nothing is exported',
      expected: 'the path of a folder',
    },
    undefined,
    (path) => (path === '' || path.includes('\0') ? undefined : resolve(path)),
  ),
}

export const memorySettings = {
  inFlightBytes: wholeNumber(
    {
      name: 'in-flight-bytes',
      description:
        'bytes of bodies being received and responses not yet read by clients; more is refused with 503',
    },
    { from: 128 * 2 ** 20, to: 2 ** 40 },
    256 * 2 ** 20,
  ),
  inFlightBytesPerKey: wholeNumber(
    { name: 'in-flight-bytes-per-key', description: 'the share of those bytes that one key may use' },
    { from: 64 * 2 ** 20, to: 2 ** 40 },
    64 * 2 ** 20,
  ),
  maxConnections: wholeNumber(
    {
      name: 'max-connections',
      description: 'connections that may be open at once; fewer where the system allows fewer open files',
    },
    { from: 1, to: 1_000_000 },
    20_000,
  ),
  readerTimeout: duration(
    {
      name: 'reader-timeout',
      description: 'how long a client may read nothing of its answer before its connection is closed',
      fallbackWords: '30s',
    },
    30_000,
  ),
} as const

export const sandboxSettings = {
  testKeys: text<string, 'off'>(
    {
      name: 'test-keys',
      argument: 'off|url',
      description:
        'test keys (keys create --test) open a sandbox with a moving market; the address at which developers reach this service',
      fallbackWords: 'off',
      expected: 'off, or the http or https address at which developers reach this service',
    },
    'off',
    readAddress,
  ),
}

/** Its pictures are at this address: without a query, and without a slash at its end. */
function readAddress(written: string): string | undefined {
  if (written === 'off') return written
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
