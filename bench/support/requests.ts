/** Cases that are HTTP requests, and single requests to check answers. */
import { request } from 'node:http'
import type { BenchOptions } from '../jobs/context.ts'
import type { CaseFacts } from './figures.ts'
import type { Case } from './measure.ts'
import { untilQuiet } from './server.ts'
import type { RunningServer } from './server.ts'
import { listFile, runLoad } from './wrk.ts'

export interface GetCase extends CaseFacts {
  readonly subject: string
  readonly what: string
  readonly server: RunningServer
  /** Paths; each request takes a random one. */
  readonly targets: readonly string[]
  readonly key?: string | undefined
  readonly gzip?: boolean
  /** Sent as `if-none-match`. */
  readonly tag?: string
  readonly connections?: number
  readonly warmRuns?: number
  /** Every answer should be a refusal: then any other answer is an error. */
  readonly refused?: boolean
}

let lists = 0

/** `GET` of random targets over several connections at once. */
export function getCase(options: BenchOptions, entry: GetCase): Case {
  const { server, targets, key, gzip, tag, refused, connections = options.connections } = entry
  const env = {
    TARGETS: newList(options.folder, 'targets', targets),
    ...(key === undefined ? {} : { PROPERTY_EVENTS_KEY: key }),
    ...(gzip === true ? { ACCEPT_ENCODING: 'gzip' } : {}),
    ...(tag === undefined ? {} : { TAG: tag }),
    ...(refused === true ? { REFUSED: 'yes' } : {}),
  }
  return {
    ...entry,
    run: (seconds) =>
      runLoad({ url: server.url, script: 'get.lua', connections, seconds, env, usage: server }),
  }
}

export interface PostCase extends CaseFacts {
  readonly subject: string
  readonly what: string
  readonly server: RunningServer
  readonly path: string
  /** Used in turn, each with the next body. */
  readonly keys: readonly string[]
  readonly bodies: readonly string[]
  readonly connections: number
}

/** A single event runs through much code once: V8 compiles the last of it after some ten seconds. */
const warmPublishingRuns = 5

/** `POST` of bodies in turn. */
export function postCase(options: BenchOptions, entry: PostCase): Case {
  const { server, path, keys, bodies, connections } = entry
  const env = {
    TARGETS: newList(
      options.folder,
      'post-targets',
      keys.map(() => path),
    ),
    KEYS: newList(options.folder, 'post-keys', keys),
    BODIES: newList(options.folder, 'post-bodies', bodies),
  }
  return {
    ...entry,
    warmRuns: warmPublishingRuns,
    async run(seconds) {
      const figures = await runLoad({
        url: server.url,
        script: 'post.lua',
        connections,
        seconds,
        env,
        usage: server,
      })
      // Fifty batches can be under way when the load ends, two seconds of work, which no other case should pay for.
      await untilQuiet(server)
      return figures
    },
  }
}

function newList(folder: string, name: string, lines: readonly string[]): string {
  lists += 1
  return listFile(folder, `${name}-${lists}`, lines)
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Unchanged, not decoded. */
  readonly bytes: Buffer
}

/** One request over its own connection. */
export function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      )
    })
    asking.on('error', reject)
    asking.end()
  })
}

/** The bytes of a 200. */
export async function getOk(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  const { status, bytes } = await get(url, headers)
  if (status !== 200) throw new Error(`${url} answered ${status}: ${bytes.toString().slice(0, 300)}`)
  return bytes
}
