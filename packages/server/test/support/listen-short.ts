/** A program of its own, with a low limit of open files: listens where only three more descriptors are left, and prints what came of it. */
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from '../../src/http/transport/listening.ts'

const server = createServer()
const service = listening(server)
// A first use loads what Node needs, and opens files for it.
await listening(createServer()).close()
const files: number[] = []
try {
  for (;;) files.push(openSync('/dev/null', 'r'))
} catch {
  for (const file of files.splice(-3)) closeSync(file)
}
const failure: unknown = await service.listen({ host: '127.0.0.1', port: 0 }).then(
  () => undefined,
  (error: unknown) => error,
)
for (const file of files) closeSync(file)
process.stdout.write(JSON.stringify({ failed: failure instanceof Error, listens: server.listening }))
