/** How clients reach a node, and through what: part of the settings of `serve`. */
import { readOrigins } from './read-origins.ts'
import { duration, oneOf, text, wholeNumber } from './setting.ts'

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
      description: 'origins whose web pages may ask the service in a browser, with commas between them',
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
