/** Stands between `publish` and the service, so that a run can be cut off at a moment of the test's choice. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { spawnProgram } from './program.ts'
import type { RunOptions } from './program.ts'

export interface Passing {
  /** Lets the service answer; its answer is given on when `pass` is called, and not before. */
  forward(): Promise<void>
  pass(): void
  /** Answers in place of the service. */
  answer(status: number, body: unknown): void
}

export interface PublishProxy {
  readonly url: string
  /** Decides about each request from now on. Left out, all pass. */
  decide(about: ((passing: Passing) => Promise<void>) | undefined): void
  /** The heads say this epoch from now on, as after a restore; `undefined`: the service's own. */
  startEpoch(epoch: string | undefined): void
  close(): void
}

export async function startPublishProxy(serviceUrl: string): Promise<PublishProxy> {
  let about: ((passing: Passing) => Promise<void>) | undefined
  const forward = async (request: IncomingMessage): Promise<Response> =>
    fetch(`${serviceUrl}${request.url ?? ''}`, {
      method: 'POST',
      headers: {
        'x-api-key': String(request.headers['x-api-key']),
        'content-type': String(request.headers['content-type']),
      },
      body: await text(request),
    })
  let epoch: string | undefined
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const headers = { 'x-api-key': String(request.headers['x-api-key']) }
      const passOn = async (): Promise<void> => {
        const given = await fetch(`${serviceUrl}${request.url ?? ''}`, { headers })
        const body = await given.text()
        response.writeHead(given.status, { 'content-type': 'application/json' })
        response.end(epoch === undefined ? body : body.replaceAll(/"epoch":"[^"]*"/g, `"epoch":"${epoch}"`))
      }
      void passOn()
      return
    }
    let answer: { readonly status: number; readonly body: string } | undefined
    const passing: Passing = {
      async forward() {
        const given = await forward(request)
        answer = { status: given.status, body: await given.text() }
      },
      answer(status, body) {
        answer = { status, body: JSON.stringify(body) }
      },
      pass() {
        response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' })
        response.end(answer?.body)
      },
    }
    const whole = async (): Promise<void> => {
      await passing.forward()
      passing.pass()
    }
    void (about === undefined ? whole() : about(passing))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    startEpoch(next) {
      epoch = next
    },
    decide(given) {
      about = given
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export interface Cut {
  /** Which request of the run, from 0. */
  readonly request: number
  /** `sent`: before the service has got it; `stored`: after it was stored, before the run hears of it. */
  readonly moment: 'sent' | 'stored'
}

/** Runs `publish` and kills it as it stands (SIGKILL) at the moment that `cut` names. Resolves when it is dead. */
export async function cutOff(
  proxy: PublishProxy,
  args: readonly string[],
  cut: Cut,
  options: RunOptions,
): Promise<void> {
  let seen = 0
  proxy.decide(async (passing) => {
    const isHere = seen === cut.request
    seen += 1
    if (!isHere || cut.moment === 'stored') await passing.forward()
    if (isHere) child.kill('SIGKILL')
    else passing.pass()
  })
  const child = spawnProgram(['publish', ...args], options)
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  child.stdout?.resume()
  child.stderr?.resume()
  await new Promise((resolve) => child.on('exit', resolve))
  proxy.decide(undefined)
  assert.equal(child.signalCode, 'SIGKILL', 'the run was interrupted')
}
