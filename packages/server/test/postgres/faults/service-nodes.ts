/** Three services as processes of their own, each with its own way to the database, and what can happen to one of them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { start, temporaryFolder, removeFolder } from '../../../../cli/test/support/program.ts'
import type { Running } from '../../../../cli/test/support/program.ts'
import { startProxy } from '../support/proxy.ts'
import type { Proxy } from '../support/proxy.ts'

/** Each takes some time and ends with the node as it was before. */
export const nodeFaults = ['kill', 'drain', 'pause', 'cut', 'freeze', 'silence'] as const
export type NodeFault = (typeof nodeFaults)[number]

export interface ServiceNode {
  readonly name: string
  /** Another one after each start. */
  readonly url: () => string
  readonly metricsUrl: () => string
  readonly proxy: Proxy
  suffer(fault: NodeFault, durationMs: number): Promise<void>
  stop(): Promise<void>
  /** For tests that end early. */
  kill(): void
}

export interface ServiceNodes extends AsyncDisposable {
  readonly all: readonly ServiceNode[]
  /** Variables for commands on the same store. */
  readonly environment: Readonly<Record<string, string>>
  readonly leadTo: (socketFile: string) => void
}

/** `more`: further options of each. */
export async function startNodes(
  count: number,
  socketFile: string,
  more: readonly string[] = [],
): Promise<ServiceNodes> {
  const folder = temporaryFolder()
  const proxies = await Promise.all(Array.from({ length: count }, () => startProxy(socketFile)))
  const nodes: ServiceNode[] = []
  const dispose = async (): Promise<void> => {
    for (const node of nodes) node.kill()
    await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()))
    removeFolder(folder)
  }
  try {
    for (const [index, proxy] of proxies.entries()) {
      nodes.push(await startNode(`node ${index + 1}`, join(folder, String(index)), proxy, more))
    }
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    all: nodes,
    environment: environmentOf(proxies[0]?.url() ?? ''),
    leadTo(socketFile) {
      for (const proxy of proxies) proxy.leadTo(socketFile)
    },
    [Symbol.asyncDispose]: dispose,
  }
}

function environmentOf(url: string): Readonly<Record<string, string>> {
  return { PROPERTY_EVENTS_DATABASE: url, PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node' }
}

async function startNode(
  name: string,
  data: string,
  proxy: Proxy,
  more: readonly string[],
): Promise<ServiceNode> {
  const options = ['--data', data, '--rate-limit', 'off', '--drain', '300ms', '--wait', '2m', ...more]
  const launch = (): Promise<Running> =>
    start(['serve', ...options], { environment: environmentOf(proxy.url()) })
  let running = await launch()
  const stop = async (): Promise<void> => {
    const { code, stderr } = await running.stop('SIGTERM')
    assert.equal(code, 0, `${name} ended with ${code}: ${stderr}`)
  }

  const faults: Readonly<Record<NodeFault, (durationMs: number) => Promise<void>>> = {
    async kill(durationMs) {
      await running.stop('SIGKILL')
      await delay(durationMs / 4)
      running = await launch()
    },
    async drain() {
      await stop()
      running = await launch()
    },
    async pause(durationMs) {
      running.child.kill('SIGSTOP')
      await delay(durationMs)
      running.child.kill('SIGCONT')
    },
    /** In the middle of a message, if it comes so. */
    async cut(durationMs) {
      for (let times = 0; times < 5; times += 1) {
        proxy.cutAfter(Math.ceil(Math.random() * 3_000))
        await delay(durationMs / 5)
      }
      proxy.cutAfter(undefined)
    },
    async freeze(durationMs) {
      proxy.freeze()
      await delay(durationMs)
      proxy.thaw()
    },
    /** What is written is written, and the node never hears of it. */
    async silence(durationMs) {
      proxy.swallowAnswers()
      await delay(durationMs)
      proxy.thaw()
    },
  }

  return {
    name,
    url: () => running.line.url,
    metricsUrl: () => running.line.metricsUrl,
    proxy,
    suffer: (fault, durationMs) => faults[fault](durationMs),
    stop,
    kill: () => void running.child.kill('SIGKILL'),
  }
}
