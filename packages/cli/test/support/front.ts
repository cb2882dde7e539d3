/** A proxy in front of several clusters, which knows by the id of a key where its tenant is served (docs/operating/several-clusters.md). */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Front extends AsyncDisposable {
  readonly url: string
  /** From the next request on, requests with this key go there. */
  route(key: string, url: string): void
}

export async function startFront(): Promise<Front> {
  const places = new Map<string, string>()
  const server = createServer((incoming, outgoing) => {
    const key = String(incoming.headers['x-api-key'])
    const { url = '', method = 'GET', headers } = incoming
    const passed = request(new URL(url, places.get(key)), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    route: (key, url) => void places.set(key, url),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
