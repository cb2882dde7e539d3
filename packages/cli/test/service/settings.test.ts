import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readSettings } from '../../src/settings/read-settings.ts'
import { variableOf } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/settings.ts'
import { readServeOptions, serveSettings } from '../../src/settings/serve-settings.ts'
import { removeFolder, run, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
after(() => removeFolder(folder))
const store = join(folder, 'store')

describe('settings', () => {
  it('all faults are reported at once, each with its place, the value and what is allowed', async () => {
    const { code, stdout, stderr } = await run(
      ['serve', '--data', store, '--port', '80800', '--base-path', 'feed', '--rate-limit', 'fast'],
      { environment: { PROPERTY_EVENTS_MAX_PAGE_SIZE: '1e3', PROPERTY_EVENTS_LOG_LEVEL: 'loud' } },
    )
    assert.equal(code, 1)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.length, 5, stderr)
    assert(lines.includes('--port is "80800", but must be a whole number from 0 to 65535.'))
    assert(
      lines.includes('PROPERTY_EVENTS_MAX_PAGE_SIZE is "1e3", but must be a whole number from 1 to 10000.'),
    )
    assert(lines.some((line) => line.startsWith('--base-path is "feed", but must be a path such as /feeds')))
    assert(lines.some((line) => line.startsWith('--rate-limit is "fast"')))
    assert(lines.some((line) => line.startsWith('PROPERTY_EVENTS_LOG_LEVEL is "loud", but must be one of')))
    assert(!existsSync(store), 'nothing was made')
  })

  it('say to whom webhooks are sent; a demo of one’s own sends to its own machine, and one that others reach does not', () => {
    const read = (flags: Readonly<Record<string, unknown>>, isDemo = false) => {
      const reader = readSettings(flags, {})
      const { webhooks } = readServeOptions(reader, { isDemo })
      reader.finish()
      return webhooks
    }
    const usual = { allowHttp: false, networks: [], answers: 'public' }
    const own = { allowHttp: true, networks: ['127.0.0.0/8', '::1'], answers: 'all' }
    assert.deepEqual(read({}), usual)
    assert.equal(read({ webhooks: 'off' }), 'off')
    const given = {
      webhookAllowHttp: true,
      webhookAllowNetworks: '10.20.0.0/16, fd12::/16',
      webhookAnswers: 'none',
    }
    assert.deepEqual(read(given), {
      allowHttp: true,
      networks: ['10.20.0.0/16', 'fd12::/16'],
      answers: 'none',
    })
    assert.throws(() => read({ webhookAllowNetworks: '10.20.0.0/33' }), /--webhook-allow-networks/)
    for (const host of ['127.0.0.1', 'localhost', '::1']) assert.deepEqual(read({ host }, true), own)
    assert.deepEqual(read({}, true), own)
    for (const host of ['0.0.0.0', '::', '192.168.1.7', 'feed.example.com'])
      assert.deepEqual(read({ host }, true), usual)
    assert.deepEqual(read({ webhookAllowNetworks: '10.0.0.0/8' }, true), { ...own, networks: ['10.0.0.0/8'] })
  })

  it('a variable that looks like ours and is not is an error, with the one that was meant', async () => {
    const { code, stderr } = await run(['tenants', 'list', '--data', store], {
      environment: { PROPERTY_EVENTS_PROT: '9000' },
    })
    assert.equal(code, 1)
    assert.equal(
      stderr,
      'PROPERTY_EVENTS_PROT is not a setting of property-events. Did you mean PROPERTY_EVENTS_PORT?\n',
    )
  })

  it('a misspelt flag is an error, with the one that was meant', async () => {
    const { code, stderr } = await run(['serve', '--prot', '9000'])
    assert.equal(code, 1)
    assert.match(stderr, /unknown option '--prot'/)
    assert.match(stderr, /Did you mean --port\?/)
  })

  it('secrets are never shown (D11)', async () => {
    const { code, stderr } = await run(['serve', '--data', store], {
      environment: { PROPERTY_EVENTS_KEY_PEPPER: 'hunter2' },
    })
    assert.equal(code, 1)
    assert(!stderr.includes('hunter2'))
    assert.match(stderr, /PROPERTY_EVENTS_KEY_PEPPER is invalid \(7 characters, not shown\)/)
    const withKey = await run(['events', 'list', '--key', 'geheim nummer'])
    assert(!withKey.stderr.includes('geheim'))
    assert.match(withKey.stderr, /--key is invalid/)
  })

  it('a variable can name a file that contains the secret, as systemd and containers hand secrets over (D11)', () => {
    const file = join(folder, 'secret')
    const pepper = (environment: Record<string, string>, flags: Record<string, unknown> = {}) => {
      const reader = readSettings(flags, environment)
      const values = [reader.value(settings.keyPepper), reader.value(settings.database)]
      reader.finish()
      return values
    }
    const variable = 'PROPERTY_EVENTS_KEY_PEPPER'
    for (const text of ['sixteen letters.', 'sixteen letters.\n', 'sixteen letters.\r\n']) {
      writeFileSync(file, text)
      assert.deepEqual(pepper({ [`${variable}_FILE`]: file }), ['sixteen letters.', undefined])
    }
    assert.deepEqual(pepper({ [`${variable}_FILE`]: '' }), [undefined, undefined])
    writeFileSync(file, 'postgres://feed:geheim@localhost/feed\n')
    const address = { PROPERTY_EVENTS_DATABASE_FILE: file }
    assert.deepEqual(pepper(address), [undefined, 'postgres://feed:geheim@localhost/feed'])
    const flag = 'postgres://localhost/other'
    assert.deepEqual(pepper(address, { database: flag }), [undefined, flag])
    const fault = (environment: Record<string, string>, expected: RegExp) =>
      assert.throws(() => pepper(environment), expected)
    fault(
      { [variable]: 'sixteen letters.', [`${variable}_FILE`]: file },
      /KEY_PEPPER and .*_FILE are both set\./,
    )
    fault(
      { [`${variable}_FILE`]: join(folder, 'gone') },
      /KEY_PEPPER_FILE is ".*gone", which cannot be read \(ENOENT\)\./,
    )
    writeFileSync(file, 'geheim')
    fault({ [`${variable}_FILE`]: file }, /^(?!.*geheim).*_FILE is invalid \(6 characters, not shown\)/)
    // Only for secrets.
    fault({ PROPERTY_EVENTS_PORT_FILE: file }, /PROPERTY_EVENTS_PORT_FILE is not a setting/)
  })

  it('the help shows every one with its variable and its default', async () => {
    const { stdout } = await run(['serve', '--help'])
    // As it is without the line ends of the terminal's width.
    const text = stdout.replaceAll(/\s+/g, ' ')
    for (const setting of serveSettings.filter(({ variableOnly }) => !variableOnly)) {
      assert.match(text, new RegExp(`\\(default: [^()]+, ${variableOf(setting)}\\b`), setting.name)
    }
    for (const setting of serveSettings.filter(({ variableOnly }) => variableOnly)) {
      assert.match(
        text,
        new RegExp(`${variableOf(setting)} or ${variableOf(setting)}_FILE [^()]+\\(default: `),
      )
    }
    assert.match(text, /default: 50\/500, PROPERTY_EVENTS_RATE_LIMIT/)
    assert.match(text, /default: default, PROPERTY_EVENTS_CATALOGUE/)
  })

  it('a flag goes before its variable, and an empty variable counts as not set', () => {
    const port = (flags: Record<string, unknown>, environment: Record<string, string>) => {
      const reader = readSettings(flags, environment)
      const value = reader.value(settings.port)
      reader.finish()
      return value
    }
    assert.equal(port({ port: '1' }, { PROPERTY_EVENTS_PORT: '2' }), 1)
    assert.equal(port({}, { PROPERTY_EVENTS_PORT: '2' }), 2)
    assert.equal(port({}, { PROPERTY_EVENTS_PORT: '' }), 8080)
    assert.equal(port({}, {}), 8080)
  })

  it('each kind of value accepts what it describes and nothing else', () => {
    const accepted: readonly (readonly [keyof typeof settings, string, unknown])[] = [
      ['basePath', '/', ''],
      ['basePath', '/a/b-c/', '/a/b-c'],
      ['rateLimit', 'off', 'off'],
      ['rateLimit', '5/20', { perSecond: 5, burst: 20 }],
      ['tenantRateLimit', 'off', 'off'],
      ['tenantRateLimit', '250/2500', { perSecond: 250, burst: 2500 }],
      ['keepAlive', '1s', 1_000],
      ['keepAlive', '2m', 120_000],
      ['overrideClock', 'on', true],
      ['overrideClock', 'false', false],
      ['url', 'https://example.com/feeds/', 'https://example.com/feeds'],
      ['catalogue', 'published-0', settings.catalogue.read('published-0')],
    ]
    for (const [name, written, value] of accepted)
      assert.deepEqual(settings[name].read(written), value, written)
    const refused: readonly (readonly [keyof typeof settings, readonly string[]])[] = [
      ['port', ['-1', '+1', ' 1', '01', '0x10', '1.0', '65536', '']],
      ['basePath', ['a', '/a b', '/..', '/a/../b', '//', '/%2e', '/a?b']],
      ['rateLimit', ['0/0', '50', '50/', '-1/5', '1e3/5', '1/2/3']],
      ['tenantRateLimit', ['on', '', '0/1', '5']],
      ['concurrentRequests', ['0', '-1', 'off']],
      ['waitingRequests', ['0', '-1', 'off', '1000001']],
      ['waitingRequestsPerNode', ['0', '1.5', '']],
      ['keepAlive', ['0', '999ms', '61m', '60']],
      [
        'url',
        ['example.com', 'ftp://example.com', 'https://me:secret@example.com', 'https://example.com/?a=1'],
      ],
      ['keyPepper', ['', 'fifteen letters']],
      ['key', ['', 'a b', 'a\n']],
      ['startSequence', ['9007199254740993']],
    ]
    for (const [name, texts] of refused) {
      for (const written of texts)
        assert.equal(settings[name].read(written), undefined, `${name}: ${written}`)
    }
  })

  it('a catalogue file is refused with its faults (D12)', async () => {
    const file = join(folder, 'catalogue.json')
    writeFileSync(file, JSON.stringify({ property: { PropertyPublished: 2 }, contact: {} }))
    const { code, stderr } = await run(['serve', '--data', store, '--catalogue', file])
    assert.equal(code, 1)
    assert.match(stderr, /In the catalogue .*lacks the short code Property/)
  })

  it('for a catalogue file that is not JSON, the refusal says that it was read and where it goes wrong (D12)', async () => {
    const file = join(folder, 'comma.json')
    writeFileSync(file, '{"property": {"PropertyPublished": 2,}}')
    const { code, stderr } = await run(['serve', '--data', store, '--catalogue', file])
    assert.equal(code, 1)
    assert.match(stderr, /^The catalogue .*comma\.json is not JSON: .*\bposition 37\b.*\. Correct the file/)
    const missing = await run(['serve', '--data', store, '--catalogue', `${file}.gone`])
    assert.match(missing.stderr, /--catalogue is ".*gone", but must be default, published-0, or the path/)
    const noFile = await run(['serve', '--data', store, '--catalogue', folder])
    assert.match(noFile.stderr, /The catalogue .* cannot be read \(EISDIR.*\)\. Name a JSON file/)
    assert(!existsSync(store))
  })
})

describe('a place that may not be written', () => {
  // The one that is read-only for root as well.
  const options = process.platform === 'linux' ? {} : { skip: 'needs /sys' }

  it('is reported with the remedy of the command', options, async () => {
    const place = '/sys/property-events'
    const key = ['--key', 'a']
    const [sync, serve] = await Promise.all([
      run(['sync', place, ...key]),
      run(['serve', '--data', place, '--port', '0']),
    ])
    assert.match(sync.stderr, /\/sys\/property-events.* or name another path\.$/m)
    assert.match(serve.stderr, /\/sys\/property-events.* or choose another folder with --data\.$/m)
  })
})
