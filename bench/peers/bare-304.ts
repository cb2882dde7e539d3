/** The yardstick of idle polls, as a program: a bare `http` handler that answers 304 to everything. */
import { createServer } from 'node:http'

const server = createServer((_, response) => {
  response.writeHead(304)
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
