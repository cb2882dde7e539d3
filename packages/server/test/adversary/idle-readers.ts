/** Readers that ask for a large page when a siege begins and take nothing of it: by its end the service has to have left them. */
import type { Socket } from 'node:net'
import { listPath } from '../support/http-client.ts'
import { connectTo, readToEnd, requestOf, statusFrom } from './connection.ts'
import type { Target } from './target.ts'

export interface IdleReaders {
  /** Takes what is there. How many of them are sent the whole page, although nobody waits so long for a reader. */
  served(): Promise<number>
}

/** Each of the paths at which a large page is had. */
export async function startIdleReaders(target: Target, signal: AbortSignal): Promise<IdleReaders> {
  const sockets: Socket[] = []
  for (const path of [`${listPath}?pageSize=1000`, '/v1/property-events/snapshot']) {
    for (const coding of ['gzip', 'identity']) {
      const socket = await connectTo(target, signal)
      const close = ['Connection: close', `Accept-Encoding: ${coding}`]
      socket.on('error', () => undefined)
      socket.write(requestOf(`GET ${path}`, target.largeKeys[sockets.length], ...close))
      const status = await statusFrom(socket, signal)
      if (status !== '200') throw new Error(`a reader before the attack was answered ${status}`)
      sockets.push(socket)
    }
  }
  return {
    async served() {
      const lengths = await Promise.all(sockets.map(readToEnd))
      return lengths.filter((length) => length > target.largeBytes / 2).length
    },
  }
}
