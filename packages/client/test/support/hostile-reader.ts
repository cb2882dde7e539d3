/** Reads with the client as a program of its own, and says on its last line how it ended and how much memory it took at most. */
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, memoryCheckpoint } from '../../src/index.ts'

const [baseUrl = '', way = ''] = process.argv.slice(2)
const client = createClient({ baseUrl, key: 'k', deadlineMs: 60_000, retry: { attempts: 3, baseDelayMs: 1 } })
const ended = new AbortController()
/** The copy needs no memory of its own here. */
const options = {
  checkpoint: memoryCheckpoint(),
  apply: () => undefined,
  signal: ended.signal,
  onTrouble: () => ended.abort(),
}

let most = 0
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 10)

async function follow(after: number): Promise<string> {
  for await (const event of client.follow({ after, epoch: 'a', ...options })) void event
  return 'aborted'
}

async function read(): Promise<string> {
  switch (way) {
    case 'list':
      for await (const event of client.list()) void event
      return 'listed'
    case 'follow':
      return await follow(3)
    case 'get':
      return (await client.get('e1'))?.id ?? 'none'
    case 'sync':
      return (await client.sync(options)).ended
    default:
      throw new Error(`There is no way to read called ${way}.`)
  }
}

const outcome = await read().catch((error: unknown) => String(error))
await pause(20)
clearInterval(watch)
process.stdout.write(
  `${JSON.stringify({ outcome, mib: Math.round(Math.max(most, process.memoryUsage.rss()) / 2 ** 20) })}\n`,
)
process.exit()
