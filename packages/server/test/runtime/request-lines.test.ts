import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { createLogger } from '../../src/index.ts'
import { requestLines } from '../../src/runtime/log/request-lines.ts'

function logged(level: 'info' | 'warn') {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { lines, requests: requestLines(createLogger({ level, destination })) }
}

const failed = (number: number) => ({
  requestId: `id-${number}`,
  status: 503,
  problem: number % 2 === 0 ? 'storage_unavailable' : 'overloaded',
})

it('names each request that failed, in a line of its own or in one for the others of its second', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { lines, requests } = logged('info')
  for (let number = 0; number < 200; number += 1) requests.write(failed(number))
  context.mock.timers.tick(1_000)
  assert.equal(lines.length, 11)
  const [gathered] = lines.slice(-1)
  assert.equal(gathered?.['requests'], 190)
  assert.deepEqual(gathered?.['problems'], { storage_unavailable: 95, overloaded: 95 })
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  for (let number = 0; number < 200; number += 1) assert.ok(text.includes(`"id-${number}"`), `id-${number}`)
  requests.write(failed(200))
  assert.equal(lines.length, 12, 'the next second begins with lines of its own')
  requests.close()
})

it('writes a bounded number of bytes a second, however many requests fail, and says how many it does not name', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { lines, requests } = logged('info')
  for (let number = 0; number < 50_000; number += 1) {
    requests.write({ ...failed(number), requestId: `${'x'.repeat(57)}-${number}` })
  }
  requests.close()
  assert.equal(lines.length, 11)
  assert.ok(JSON.stringify(lines).length < 25_000)
  assert.equal(lines.at(-1)?.['requests'], 49_990)
  assert.equal(lines.at(-1)?.['unnamed'], 49_740)
})

it('writes a line for each answered request, and none if only warnings are logged', () => {
  const info = logged('info')
  for (let number = 0; number < 1_000; number += 1) {
    info.requests.write({ requestId: `id-${number}`, status: number % 2 === 0 ? 200 : 429 })
  }
  assert.equal(info.lines.length, 1_000)
  const warn = logged('warn')
  assert.equal(warn.requests.isWritten(404), false)
  assert.equal(warn.requests.isWritten(503), true)
  warn.requests.write(failed(1))
  assert.equal(warn.lines.length, 1)
  assert.equal(warn.lines[0]?.['level'], 40)
  warn.requests.close()
  mock.reset()
})
