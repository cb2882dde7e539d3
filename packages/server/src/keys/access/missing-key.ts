/** What a caller without a valid key is told, from the request alone. */
import { parseKeyText } from '@property-events/protocol'
import type { Request } from '../../http/exchange.ts'

/**
 * Says where a key belongs, or that it is incomplete. It never says whether the id exists: unknown and wrong keys get the same answer
 * (D7), and none of this reads the store. `testKeys`: whether test keys work here.
 */
export function whatIsMissing(
  testKeys: boolean,
  request: Request,
  text: string | undefined,
): string | undefined {
  const place = text === undefined ? misplacedKey(request) : undefined
  if (place !== undefined)
    return `The request has no x-api-key header, and ${place}. The key belongs in x-api-key.`
  if (text === undefined)
    return 'The request has no key. Send your API key in the x-api-key header; if a variable holds it, check that it is set.'
  const parts = parseKeyText(text)
  if (parts?.isTest === true && !testKeys)
    return 'This is a test key, and this service takes no test keys. Ask its operator to enable them (serve --test-keys), or to give you a key that reads live data.'
  if (parts !== undefined) return undefined
  if (text.includes('pev_') && !/^pev_\w*$/.test(text))
    return 'The value of x-api-key has more in it than a key, such as a word before it or quotation marks. Send the key alone, from pev_ to its end.'
  return 'The value of x-api-key is not a whole key: a character is missing or wrong. Copy the key again, from pev_ to its end.'
}

/** What other services call the header of a key. */
const otherHeaders = [
  'apikey',
  'api-key',
  'x-apikey',
  'x-auth-token',
  'x-access-token',
  'x-key',
  'token',
  'key',
]

/** Where clients put keys by mistake. */
function misplacedKey(request: Request): string | undefined {
  if (request.header('authorization') !== undefined) return 'its Authorization header is not read'
  const other = otherHeaders.find((name) => request.header(name)?.includes('pev_') === true)
  if (other !== undefined) return `its header ${other} is not read`
  if (/[?&](?:x-)?api[-_]?key=|pev(?:_|%5f)/i.test(request.target))
    return 'a key in its address is not read. Addresses are written to logs: if that was a whole key, have it replaced'
  if (/pev_/.test(request.header('cookie') ?? '')) return 'its cookies are not read'
  return undefined
}
