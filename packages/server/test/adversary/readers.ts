/** Readers of large pages that do not read them. */
import { pick } from '../../../client/test/support/random.ts'
import { listPath } from '../support/http-client.ts'
import { connectTo, oneOf, pause, readToEnd, repeat, requestOf, statusFrom } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

/** The paths at which a whole page, or as much as one, is had at once. */
const largePaths = [
  `${listPath}?pageSize=1000`,
  '/v1/property-events?after=0&limit=1000',
  '/v1/property-events/snapshot',
]

const close = 'Connection: close'

/** Ask for a large page, take its head, and nothing more for longer than the service waits for a reader. */
export const stoppedReaders: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const socket = await connectTo(target, signal)
    const [path, key] = [oneOf(random, largePaths), oneOf(random, target.largeKeys)]
    socket.write(requestOf(`GET ${path}`, key, close))
    const status = await statusFrom(socket, signal)
    tally.add(status)
    await pause(status === '200' ? 40_000 : 500, signal)
    if (status !== '200') socket.destroy()
    else if (signal.aborted) tally.add('left with the page untaken')
    else {
      const isWhole = (await readToEnd(socket)) > target.largeBytes / 2
      tally.add(isWhole ? 'was sent the page after 40 s' : 'was ended')
    }
  })
  return tally.counts
}

/** Take one byte a second. */
export const slowReaders: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const taken = { bytes: 0 }
    const onread = {
      buffer: Buffer.alloc(1),
      callback(): boolean {
        taken.bytes += 1
        return false
      },
    }
    const socket = await connectTo(target, signal, { onread })
    socket.write(requestOf(`GET ${oneOf(random, largePaths)}`, oneOf(random, target.largeKeys), close))
    while (!signal.aborted && !socket.destroyed) {
      await pause(1_000, signal)
      socket.resume()
    }
    tally.add(taken.bytes > 0 ? 'took some bytes' : 'took nothing')
    socket.destroy()
  })
  return tally.counts
}

/** Take the beginning and reset the connection, or close their side and take nothing. */
export const leavingReaders: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(5 * target.strength, signal, tally, async (index) => {
    const socket = await connectTo(target, signal)
    const key = oneOf(random, target.largeKeys)
    socket.write(requestOf(`GET ${oneOf(random, largePaths)}`, key, 'Accept-Encoding: gzip'))
    if (index % 2 === 0) {
      tally.add(await statusFrom(socket, signal))
      await pause(pick(random, 100), signal)
      socket.resetAndDestroy()
      return
    }
    socket.end()
    tally.add('half-open')
    await pause(5_000 + pick(random, 5_000), signal)
    socket.destroy()
  })
  return tally.counts
}
