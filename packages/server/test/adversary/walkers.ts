/** Many keys that read a whole feed at once, by snapshots and by runs. */
import { pick } from '../../../client/test/support/random.ts'
import { askOnce, connectTo, oneOf, pause, repeat, requestOf, statusFrom } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

const close = 'Connection: close'

/** More snapshots at once than the keys may have, taken as fast as they come, compressed and plain. */
export const snapshotsAtOnce: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(60 * target.strength, signal, tally, async () => {
    const key = oneOf(random, target.longKeys)
    const coding = oneOf(random, ['gzip', 'identity'])
    const request = requestOf('GET /v1/property-events/snapshot', key, close, `Accept-Encoding: ${coding}`)
    const status = await askOnce(target, signal, request)
    tally.add(status)
    if (status !== '200') await pause(pick(random, 500), signal)
  })
  return tally.counts
}

/** Snapshots of which the beginning is taken, and then nothing: each holds one of its key's places. */
export const heldSnapshots: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(20 * target.strength, signal, tally, async () => {
    const socket = await connectTo(target, signal)
    socket.write(requestOf('GET /v1/property-events/snapshot', oneOf(random, target.largeKeys), close))
    tally.add(await statusFrom(socket, signal))
    await pause(pick(random, 20_000), signal)
    socket.destroy()
  })
  return tally.counts
}

/** The longest runs there are, of many events and of long ones, from the beginning, again and again. */
export const runsAtOnce: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(60 * target.strength, signal, tally, async (index) => {
    const after = pick(random, 200)
    const key = oneOf(random, index % 3 === 0 ? target.longKeys : target.largeKeys)
    const request = requestOf(`GET /v1/property-events?after=${after}&limit=1000`, key, close)
    const status = await askOnce(target, signal, request)
    tally.add(status)
    if (status !== '200') await pause(pick(random, 500), signal)
  })
  return tally.counts
}
