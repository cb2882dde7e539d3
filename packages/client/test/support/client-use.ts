/** A program that uses the installed client, whatever runs it, and a server for it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { createPlainServer } from './plain-server.ts'
import type { PlainServer } from './plain-server.ts'
import { randomOf } from './random.ts'

/** Keeps a copy, twice. Its operands: the address of a server, and a file for the checkpoint. */
export const usingProgram = `
import { createClient } from '@property-events/client'
import { fileCheckpoint } from '@property-events/client/node'
const copy = new Map()
const client = createClient({ baseUrl: process.argv[2], key: 'k' })
const sync = () => client.sync({
  checkpoint: fileCheckpoint(process.argv[3]),
  pageSize: 7,
  apply: ({ changes }) => {
    for (const { kind, subjectId, payload } of changes) {
      if (kind === 'remove') copy.delete(subjectId)
      else copy.set(subjectId, payload.price_information.price)
    }
  },
})
const first = await sync()
const second = await sync()
console.log(JSON.stringify({ held: copy.size, first, second }))`

/** Holds what the program printed against the number of properties that are to be shown. */
export function checkUse(stdout: string, live: number, where: string): void {
  const { held, first, second } = JSON.parse(stdout) as {
    held: number
    first: { readBy: string; changes: number }
    second: { changes: number }
  }
  assert.equal(held, live, where)
  assert.equal(first.readBy, 'pages', where)
  assert.equal(second.changes, 0, where)
}

/** A server with forty events, and how many properties of them are to be shown. */
export async function serveForty(): Promise<{
  readonly server: Server
  readonly url: string
  readonly live: number
}> {
  const plain = createPlainServer({ random: randomOf(5), order: 'descending', orderBy: 'number' })
  for (let left = 40; left > 0; left -= 1) plain.publish()
  plain.settle()
  const live = [...plain.fold().values()].filter(({ payload }) => payload.includes('"published":true')).length
  return { ...(await serverOf(plain)), live }
}

/** The plain server behind a port of its own. */
async function serverOf(plain: PlainServer) {
  async function serve(path: string, response: ServerResponse): Promise<void> {
    const answer = await plain.fetch(`http://x.example${path}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  }
  const server = createServer((request, response) => void serve(request.url ?? '', response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { server, url: `http://127.0.0.1:${address.port}` }
}
