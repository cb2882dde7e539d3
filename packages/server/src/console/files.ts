/** The page of the console, its scripts and its style, as built, with the policy for browsers (PROTOCOL §15.1). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Headers } from '../http/exchange.ts'
import { madeOnce, pagePolicy, staticDocument } from '../http/openapi/static-document.ts'
import type { StaticDocument } from '../http/openapi/static-document.ts'

export interface ConsoleOptions {
  /** The folder with `index.html`, `console.js` with the parts that it loads, and `console.css`. */
  readonly folder: string
  /** Hosts whose pictures the page may show, over https: names, or `*.` and a name. Default: none. */
  readonly imageHosts?: readonly string[]
  /** The address at which people reach the service, with the base path. Left out: the address it listens on. */
  readonly url?: string | undefined
}

export interface ConsoleFiles {
  readonly page: () => StaticDocument
  /** By name: `console.js`, and the parts that it loads when a view is opened. */
  readonly scripts: ReadonlyMap<string, () => StaticDocument>
  readonly style: () => StaticDocument
}

/** Reads the files at once, so that a service without them does not start; compresses them on first use. */
export function readConsoleFiles(
  { folder, imageHosts = [] }: ConsoleOptions,
  basePath: string,
): ConsoleFiles {
  const headers: Headers = {
    'content-security-policy': policyText(imageHosts),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  }
  const file = (name: string, mediaType: string, change = (text: string): string => text) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return madeOnce(() => staticDocument(mediaType, change(text), headers))
  }
  return {
    // The page is built for a service without a base path.
    page: file('index.html', 'text/html; charset=utf-8', (text) =>
      text.replaceAll('"/console/', `"${basePath}/console/`),
    ),
    scripts: new Map(
      ['console.js', ...partsIn(folder)].map((name) => [name, file(name, 'text/javascript; charset=utf-8')]),
    ),
    style: file('console.css', 'text/css; charset=utf-8'),
  }
}

function partsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.js') && name !== 'console.js')
}

/** The page may load its own script and style and send requests to this service alone. */
function policyText(imageHosts: readonly string[]): string {
  const images = [`'self'`, 'data:', ...imageHosts.map((host) => `https://${host}`)]
  return pagePolicy(
    `script-src 'self'`,
    `style-src 'self'`,
    `connect-src 'self'`,
    `img-src ${images.join(' ')}`,
  )
}
