/** Which addresses the service may be made to post to: the public Internet, and nothing that leads anywhere else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressCheck } from '../../src/webhooks/receiver-address.ts'
import type { AddressPolicy, Resolve } from '../../src/webhooks/receiver-address.ts'

const usual: AddressPolicy = { allowHttp: false, networks: [] }
const nobody: Resolve = () => Promise.reject(new Error('a literal address needs no name server'))

/** Refused wherever they stand: as the host of an address, and as what a name resolves to. */
const privateAddresses = `
  0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
  169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
  64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1:: 2001::7f00:1 2001:db8::1 fe80::1 fc00::1
  fd12:3456::1 ff02::1 fec0::1 100::1 5f00::1 4000::1
`
  .trim()
  .split(/\s+/)
const publicAddresses = ['8.8.8.8', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4009::1']

describe('the host of an endpoint', () => {
  for (const address of privateAddresses) {
    it(`is not ${address}, written as such or behind a name`, async () => {
      const literal = await addressCheck(usual, nobody).host(address.includes(':') ? `[${address}]` : address)
      assert.equal(literal.kind, 'refused')
      const named = await addressCheck(usual, async () => [address]).host('hooks.example.com')
      assert.equal(named.kind, 'refused')
      const beside = await addressCheck(usual, async () => ['8.8.8.8', address]).host('hooks.example.com')
      assert.equal(beside.kind, 'refused', 'not beside a public one either')
    })
  }

  for (const address of publicAddresses) {
    it(`may be ${address}, which is what is connected to`, async () => {
      const named = await addressCheck(usual, async () => [address]).host('hooks.example.com')
      const family = address.includes(':') ? 6 : 4
      assert.deepEqual(named, { kind: 'checked', addresses: [{ address, family }] })
    })
  }

  it('is refused in every spelling that leads to this machine', async () => {
    for (const spelling of [
      '2130706433',
      '0x7f.1',
      '127.1',
      '①②⑦.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '[::ffff:127.0.0.1]',
    ]) {
      const checked = addressCheck(usual, nobody).url(`https://${spelling}/`)
      assert.equal(checked.kind, 'accepted')
      const host = await addressCheck(usual, nobody).host(
        checked.kind === 'accepted' ? checked.url.hostname : '',
      )
      assert.equal(host.kind, 'refused', spelling)
    }
  })

  it('is asked for again before each connection: a name may lead elsewhere by then', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1']]
    const check = addressCheck(usual, async () => answers.shift() ?? [])
    assert.equal((await check.host('rebinds.example.com')).kind, 'checked')
    assert.equal((await check.host('rebinds.example.com')).kind, 'refused')
    assert.equal((await check.host('rebinds.example.com')).kind, 'unresolved')
  })

  it('is this machine where it is called localhost, whatever a name server says of that', async () => {
    for (const name of ['localhost', 'localhost.', 'hooks.localhost']) {
      const asked = async () => ['8.8.8.8']
      assert.equal((await addressCheck(usual, asked).host(name)).kind, 'refused', name)
      const loopback = { allowHttp: true, networks: ['127.0.0.0/8', '::1'] }
      assert.deepEqual(await addressCheck(loopback, asked).host(name), {
        kind: 'checked',
        addresses: [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      })
      assert.equal((await addressCheck(usual, asked).host('my-localhost')).kind, 'checked')
    }
  })

  it('may be in a network that the operator allows, and in no other', async () => {
    const check = addressCheck({ allowHttp: true, networks: ['127.0.0.0/8', 'fd12::/16'] }, nobody)
    assert.equal((await check.host('127.0.0.1')).kind, 'checked')
    assert.equal((await check.host('[fd12::1]')).kind, 'checked')
    assert.equal((await check.host('10.0.0.1')).kind, 'refused')
  })
})

describe('the address of an endpoint', () => {
  const accepted = [
    'https://www.example.com/hooks?site=tŷ',
    'https://example.com:443/',
    'https://example.com:8443/bachyn/£',
    'https://example.com:65535',
  ]
  for (const address of accepted) {
    it(`may be ${address}`, () => {
      assert.equal(addressCheck(usual).url(address).kind, 'accepted')
    })
  }

  const refused: readonly (readonly [address: string, word: RegExp])[] = [
    ['http://www.example.com/', /begins with https:\/\/, not with http:\/\//],
    ['ftp://www.example.com/', /https:\/\//],
    ['javascript:alert(1)', /https:\/\//],
    ['www.example.com/hooks', /absolute address/],
    ['', /absolute address/],
    ['https://', /absolute address/],
    ['https://user:secret@example.com/', /name and password/],
    ['https://user@example.com/', /name and password/],
    ['https://example.com:22/', /port 443 or one from 1024/],
    ['https://example.com:80/', /port 443/],
    ['https://example.com:1023/', /not 1023/],
    ['https://example.com:65536/', /absolute address/],
    ['https://example.com/#part', /after #/],
    [`https://example.com/${'a'.repeat(2_048)}`, /at most 2048/],
  ]
  for (const [address, word] of refused) {
    it(`is not ${address.slice(0, 60)}`, () => {
      const checked = addressCheck(usual).url(address)
      assert.equal(checked.kind, 'refused')
      assert.match(checked.kind === 'refused' ? checked.detail : '', word)
    })
  }

  it('may begin with http:// where the operator allows it', () => {
    const check = addressCheck({ allowHttp: true, networks: [] })
    assert.equal(check.url('http://example.com/hooks').kind, 'accepted')
    assert.equal(check.url('http://example.com:22/').kind, 'refused')
  })
})
