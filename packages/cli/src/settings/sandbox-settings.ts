/** The setting of test keys: part of the settings of `serve`. */
import { text } from './setting.ts'

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
