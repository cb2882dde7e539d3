/** Requests that are allowed and that nobody sends so: upgrades, floods of heads, pipelines whose answers nobody reads. */
import { pick } from '../../../client/test/support/random.ts'
import { listPath } from '../support/http-client.ts'
import { askOnce, connectTo, oneOf, pause, repeat, requestOf } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

const list = `GET ${listPath}?pageSize=100`

/** Upgrades that are not made, with more after them in the same segment. */
export const upgrades: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const key = oneOf(random, target.longKeys)
    const to = oneOf(random, ['websocket', 'h2c', 'TLS/1.0', 'x'])
    const request = requestOf(list, key, 'Connection: Upgrade', `Upgrade: ${to}`)
    tally.add(await askOnce(target, signal, request.repeat(1 + pick(random, 50))))
  })
  return tally.counts
}

/** HEAD of the dearest answers, a thousand in a row over one connection. */
export const headFloods: Adversary = async (target, random, signal) => {
  const tally = counting()
  const paths = [`${listPath}?pageSize=1000`, '/v1/property-events/snapshot', '/v1/heads', '/openapi.json']
  await repeat(5 * target.strength, signal, tally, async () => {
    const key = oneOf(random, [...target.largeKeys, ...target.longKeys])
    const line = `HEAD ${oneOf(random, paths)}`
    const last = requestOf(line, key, 'Connection: close')
    tally.add(await askOnce(target, signal, requestOf(line, key).repeat(999) + last))
  })
  return tally.counts
}

/** Requests without end over one connection, of whose answers nothing is read. */
export const unreadPipelines: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const socket = await connectTo(target, signal)
    socket.pause()
    const key = oneOf(random, target.longKeys)
    const requests = requestOf(list, key, 'Accept-Encoding: identity').repeat(100)
    // Until the service takes no more.
    for (let sent = 0; sent < 200 && socket.writable && !signal.aborted; sent += 1) {
      if (!socket.write(requests)) break
    }
    tally.add('pipelines')
    await pause(35_000, signal)
    socket.destroy()
  })
  return tally.counts
}
