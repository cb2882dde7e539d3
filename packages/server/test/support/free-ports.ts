/** Ports for programs that are told theirs. */
import { createServer } from 'node:net'

/** Below those that systems give to whoever names none: no other test can be given one of these before it is used. */
const [lowest, count] = [20_000, 12_000]

/** So many ports, each free a moment ago. */
export async function freePorts(wanted: number): Promise<readonly number[]> {
  const found = new Set<number>()
  for (let tries = 0; found.size < wanted && tries < 1_000; tries += 1) {
    const port = lowest + Math.floor(Math.random() * count)
    if (await isFree(port)) found.add(port)
  }
  if (found.size < wanted) throw new Error(`no ${wanted} ports from ${lowest} on are free`)
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
