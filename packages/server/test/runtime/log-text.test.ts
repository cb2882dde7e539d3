/** The log as a person at a terminal reads it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createLogger } from '../../src/index.ts'
import type { LogForm } from '../../src/index.ts'

function logged(form: LogForm, write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = ''
  const destination = { write: (line: string) => void (text += line) }
  write(createLogger({ level: 'debug', form, destination }))
  return text.replaceAll(/\d\d:\d\d:\d\dZ/g, '12:00:00Z')
}

const request = {
  requestId: '0194b3e0-0000-7000-8000-00000000aaaa',
  method: 'GET',
  path: '/v1/heads',
  route: '/v1/heads',
  status: 200,
  durationMs: 0.4,
  keyId: 'La74n6cBwVE0',
  tenantId: '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33',
}

describe('log lines on a terminal', () => {
  it('are short: the time, the level, what happened, and the main members of a request', () => {
    assert.equal(
      logged('plain', (log) => log.info(request, 'request')),
      '12:00:00Z info  GET /v1/heads 200 0.4 ms keyId=La74n6cBwVE0\n',
    )
    assert.equal(
      logged('plain', (log) => log.warn({ connections: 3, most: 2 }, 'too many')),
      '12:00:00Z warn  too many connections=3 most=2\n',
    )
  })

  it('name the request if the service is at fault, and count long lists', () => {
    const failed = logged('plain', (log) =>
      log.warn({ ...request, status: 503, problem: 'overloaded' }, 'request'),
    )
    assert.match(failed, /503 0\.4 ms .*requestId=0194b3e0-\S+ .*problem=overloaded/)
    const many = logged('plain', (log) => log.warn({ requestIds: ['a', 'b', 'c', 'd', 'e'] }, 'requests'))
    assert.equal(many, '12:00:00Z warn  requests requestIds=[a, b, c, 2 more]\n')
  })

  it('say why something failed, with the places in the program below', () => {
    const text = logged('plain', (log) =>
      log.error({ outage: 'store', err: new Error('disk') }, 'outage begins'),
    )
    assert.match(text, /^12:00:00Z error outage begins \(disk\) outage=store\n {4}at [^\n]+\n/)
    assert.ok(text.split('\n').length <= 8)
  })

  it('are the same with colours and without', () => {
    const write = (log: ReturnType<typeof createLogger>): void =>
      log.warn({ ...request, status: 404 }, 'request')
    const coloured = logged('coloured', write)
    assert.notEqual(coloured, logged('plain', write))
    assert.equal(stripVTControlCharacters(coloured), logged('plain', write))
  })

  it('cannot move the cursor by what strangers send (P12)', () => {
    const text = logged('plain', (log) =>
      log.info({ ...request, path: '/\u001b[2J\u009b\u202e\n' }, 'request'),
    )
    assert.doesNotMatch(text.trimEnd(), /[\p{Cc}\u202e]/u)
  })

  it('hide secrets as the lines of JSON do, which are as they were', () => {
    assert.doesNotMatch(
      logged('plain', (log) => log.info({ apiKey: 'pev_x' }, 'x')),
      /pev_x/,
    )
    const line: unknown = JSON.parse(logged('json', (log) => log.info(request, 'request')))
    assert.deepEqual({ ...Object(line), time: '' }, { level: 30, time: '', ...request, msg: 'request' })
  })
})
