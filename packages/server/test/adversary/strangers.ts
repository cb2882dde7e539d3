/** Those without a key that is one. */
import { newKeyText } from '@property-events/protocol'
import { pick } from '../../../client/test/support/random.ts'
import type { Random } from '../../../client/test/support/random.ts'
import { listPath } from '../support/http-client.ts'
import { askOnce, connectTo, oneOf, pause, readToEnd, repeat, requestOf } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

const close = 'Connection: close'

/** Whole keys that nobody was given, from as many addresses as there are on this machine's own network, and from the one of everybody. */
export const wrongKeys: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(20 * target.strength, signal, tally, async (index) => {
    const from = index % 2 === 0 ? {} : someAddress(random)
    const request = requestOf(`GET ${listPath}`, newKeyText().text, close)
    tally.add(await askOnce(target, signal, request, from))
  })
  return tally.counts
}

/** Every address of 127.0.0.0/8 is this machine's on Linux, and only there. */
function someAddress(random: Random): ConnectionOptions {
  if (process.platform !== 'linux') return {}
  const part = (): number => 1 + pick(random, 250)
  return { localAddress: `127.${part()}.${part()}.${part()}` }
}

/** Keys with a character too few, another one, or none at all; and keys where none belongs. */
export const brokenKeys: Adversary = async (target, random, signal) => {
  const tally = counting()
  const kinds: readonly ((key: string) => string)[] = [
    (key) => requestOf(`GET ${listPath}`, key.slice(0, -1), close),
    (key) => requestOf(`GET ${listPath}`, `${key.slice(0, 20)}x${key.slice(21)}`, close),
    (key) => requestOf(`GET ${listPath}`, key.repeat(100), close),
    () => requestOf(`GET ${listPath}`, '', close),
    (key) => requestOf(`GET ${listPath}`, undefined, close, `Authorization: Bearer ${key}`),
    (key) => requestOf(`GET ${listPath}?api_key=${key}`, undefined, close),
    (key) => requestOf(`POST /v1/property-events`, key.slice(1), close, 'Content-Length: 2') + '{}',
  ]
  await repeat(10 * target.strength, signal, tally, async () => {
    tally.add(await askOnce(target, signal, oneOf(random, kinds)(newKeyText().text)))
  })
  return tally.counts
}

const oddities = [
  '/',
  '//',
  '/../..',
  '/%',
  '/%zz',
  '/%00',
  '/\u00ff',
  '/v1/',
  '/.env',
  '*',
  'http://[::1',
  '/?',
  '/#',
]
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PURGE', 'BREW']

/** Paths that are none, of every length, with methods that are none. */
export const oddPaths: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const path = oneOf(random, oddities) + 'x/%'.repeat(pick(random, pick(random, 6_000)))
    const lines = Array.from(
      { length: pick(random, 120) },
      (_, index) => `x-${index}: ${'y'.repeat(pick(random, 100))}`,
    )
    tally.add(
      await askOnce(
        target,
        signal,
        requestOf(`${oneOf(random, methods)} ${path}`, undefined, close, ...lines),
      ),
    )
  })
  return tally.counts
}

/** Thousands of connections that say nothing, or the beginning of a head. */
export const silentConnections: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(500 * target.strength, signal, tally, async (index) => {
    const socket = await connectTo(target, signal)
    if (index % 3 === 0) socket.write('GET / HT')
    tally.add('opened')
    await readToEnd(socket)
    if (!signal.aborted) tally.add('was ended')
    await pause(pick(random, 1_000), signal)
  })
  return tally.counts
}
