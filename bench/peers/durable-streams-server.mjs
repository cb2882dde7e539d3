/** The server of Durable Streams as a program: `node durable-streams-server.mjs <folder of node_modules>`. Keeps streams in memory. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages] = process.argv.slice(2)
const require = createRequire(join(packages, 'package.json'))
const { DurableStreamTestServer } = await import(
  pathToFileURL(require.resolve('@durable-streams/server')).href
)
const server = new DurableStreamTestServer({ port: 0, host: '127.0.0.1' })
await server.start()
console.log(server.url)
