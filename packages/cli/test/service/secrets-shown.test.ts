/** What must not be found in a log: passwords in addresses; and files of secrets that others can read. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createClient, InvalidOptionError } from '@property-events/client'
import { run } from '../support/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'property-events-secrets-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a password in an address', () => {
  const addresses = [
    'http://mari:gwyrdd£7@127.0.0.1:8080',
    'https://mari:gwyrdd£7@feed.example/a?b=c@d',
    'mari:gwyrdd£7@feed.example',
    'http://mari:gwyrdd£7 "x"@feed.example',
    `http://mari:gwyrdd£7${'x'.repeat(200)}@feed.example`,
    'ftp://mari:gwyrdd£7@feed.example',
  ]
  it('is not repeated by any command that takes --url, nor its variable, nor with --debug', async () => {
    for (const url of addresses) {
      for (const command of [
        ['sync', join(folder, 'copy')],
        ['publish', folder],
        ['events', 'list'],
        ['why', 'x'],
      ]) {
        const ended = await run([...command, '--url', url, '--key', 'k', '--debug'])
        assert.equal(ended.code, 1)
        assert.doesNotMatch(ended.stderr + ended.stdout, /gwyrdd|mari/, `${command.join(' ')} ${url}`)
      }
      const ended = await run(['events', 'list'], {
        environment: { PROPERTY_EVENTS_URL: url, PROPERTY_EVENTS_KEY: 'k' },
      })
      assert.match(ended.stderr, /PROPERTY_EVENTS_URL is "[^"]*…@/)
      assert.doesNotMatch(ended.stderr, /gwyrdd|mari/)
    }
    // Where it was put in the wrong place.
    const misplaced = await run(['events', 'list', addresses[0] ?? ''])
    assert.doesNotMatch(misplaced.stderr, /gwyrdd|mari/)
  })

  it('is not repeated by the client', () => {
    for (const baseUrl of addresses) {
      assert.throws(
        () => createClient({ baseUrl, key: 'k' }),
        (error) => error instanceof InvalidOptionError && !/gwyrdd|mari/.test(error.message),
      )
    }
  })
})

describe('a file with a key', () => {
  it('that every user of the machine can read is used, and gets a sentence', async () => {
    const file = join(folder, 'allwedd')
    writeFileSync(file, 'k\n')
    for (const [mode, words] of [
      [0o644, /allwedd contains a secret, and every user of this machine can read it: chmod 600 it\./],
      [0o600, /^(?!.*every user)/s],
    ] as const) {
      chmodSync(file, mode)
      const ended = await run(['events', 'list', '--url', 'http://127.0.0.1:6000'], {
        environment: { PROPERTY_EVENTS_KEY_FILE: file },
      })
      assert.match(ended.stderr, words)
    }
  })
})
