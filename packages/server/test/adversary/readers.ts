/** Readers of large pages that do not read them. */
import { pick } from '../../../client/test/support/random.ts'
import { listPath } from '../support/http-client.ts'
import { askOnce, connectTo, oneOf, pause, readToEnd, repeat, requestOf, statusFrom } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

/** The paths at which a whole page, or as much as one, is had at once. */
const largePaths = [
  `${listPath}?pageSize=1000`,
  '/v1/property-events?after=0&limit=1000',
  '/v1/property-events/snapshot',
]

const close = 'Connection: close'

/** Of a reader that took nothing for longer than the service is to wait for one. */
export const waitedFor = 'was sent the whole page in the end'

/** Ask for a large page, take its head, and nothing more. */
export const stoppedReaders: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(10 * target.strength, signal, tally, async () => {
    const socket = await connectTo(target, signal)
    const [path, key] = [oneOf(random, largePaths), oneOf(random, target.largeKeys)]
    socket.write(requestOf(`GET ${path}`, key, close))
    const status = await statusFrom(socket, signal)
    tally.add(status)
    await pause(status === '200' ? 5_000 + target.readerTimeoutMs : 500, signal)
    if (status !== '200') socket.destroy()
    else if (signal.aborted) tally.add('left with the page untaken')
    else tally.add((await readToEnd(socket)) > target.largeBytes / 2 ? waitedFor : 'was ended')
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

/** Pages of some megabytes that are nowhere ready-made, as many at once as the keys may have. */
export const pagesAtOnce: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(60 * target.strength, signal, tally, async () => {
    const path = `${listPath}?pageSize=25&page=${1 + pick(random, 10)}`
    const coding = oneOf(random, ['gzip', 'identity'])
    const request = requestOf(
      `GET ${path}`,
      oneOf(random, target.largeKeys),
      close,
      `Accept-Encoding: ${coding}`,
    )
    const status = await askOnce(target, signal, request)
    tally.add(status)
    if (status !== '200') await pause(pick(random, 500), signal)
  })
  return tally.counts
}
