/** The commands that make and look after webhooks, with a service and a receiver. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createClient } from '@property-events/client'
import type { MadeWebhook } from '@property-events/protocol/wire'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const home = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

describe('webhooks', () => {
  const folder = temporaryFolder()
  const messages: { readonly headers: Record<string, string>; readonly body: string }[] = []
  let receiver: Server
  let status = 200
  let url = ''
  let running: Running
  let environment: Readonly<Record<string, string>>
  let publishKey = ''
  let readOnly: Readonly<Record<string, string>>
  before(async () => {
    receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (bytes: Buffer) => (body += bytes.toString()))
      request.on('end', () => {
        messages.push({ headers: request.headers as Record<string, string>, body })
        response.writeHead(status).end('diolch – £')
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const address = receiver.address()
    assert.ok(address !== null && typeof address === 'object')
    url = `http://127.0.0.1:${address.port}/hooks`
    const own = [
      '--webhook-allow-http',
      '--webhook-allow-networks',
      '127.0.0.0/8',
      '--webhook-answers',
      'all',
    ]
    running = await start(['serve', '--data', folder, ...own])
    const { keys } = await makeTenant({ data: folder }, 'Hill & Co', {
      website: ['property:read', 'property:webhooks'],
      reader: ['property:read'],
      agency: ['property:publish'],
    })
    publishKey = keys.agency.key
    const service = { PROPERTY_EVENTS_URL: running.line.url }
    environment = { ...service, PROPERTY_EVENTS_KEY: keys.website.key }
    readOnly = { ...service, PROPERTY_EVENTS_KEY: keys.reader.key }
  })
  after(async () => {
    await running.stop()
    receiver.closeAllConnections()
    receiver.close()
    removeFolder(folder)
  })

  const made = (...more: readonly string[]) =>
    runJson<MadeWebhook>(['webhooks', 'create', url, ...more], { environment })

  it('create shows the secret once, with which the test that follows is signed', async () => {
    const { code, stdout, stderr } = await run(['webhooks', 'create', url, '--label', 'Gwefan – £ 🏡'], {
      environment,
    })
    assert.equal(code, 0, stderr)
    const [, id = '', secret = ''] = /^webhook {2}([\da-f-]{36})\nsecret {3}(whsec_\S+)\n$/.exec(stdout) ?? []
    assert.match(stderr, /The secret is shown only now/)
    messages.length = 0
    const test = await run(['webhooks', 'test', id], { environment })
    assert.equal(test.code, 0, test.stderr)
    assert.match(test.stdout, /an event would be acknowledged\. \(\d+ ms\)\ndiolch – £\n$/)
    const [message] = messages
    assert.ok(message !== undefined)
    const body = new Webhook(secret).verify(message.body, message.headers) as { readonly type: string }
    assert.equal(body.type, 'webhook.test')
    const list = await run(['webhooks', 'list'], { environment })
    assert.match(list.stdout, new RegExp(`${id}  property  Gwefan – £ 🏡 .*enabled`))
    assert.doesNotMatch(list.stdout, /whsec_/)
  })

  it('create takes all settings', async () => {
    const more = ['--thin', '--latest', '--cloudevents', '--concurrency', '2', '--per-second', '5']
    const rest = ['--timeout', '3', '--type', 'lettingsproperty', '--after', '0', '--feed', 'property']
    const { id, secret, ...webhook } = await made(...more, ...rest)
    assert.match(secret, /^whsec_/)
    const { payload, mode, format, concurrency, maxPerSecond, timeoutSeconds, apiEventType } = webhook
    assert.deepEqual(
      { payload, mode, format, concurrency, maxPerSecond, timeoutSeconds, apiEventType },
      {
        payload: 'thin',
        mode: 'latest',
        format: 'cloudevents',
        concurrency: 2,
        maxPerSecond: 5,
        timeoutSeconds: 3,
        apiEventType: 'lettingsproperty',
      },
    )
    assert.equal((await run(['webhooks', 'delete', id], { environment })).code, 0)
  })

  it('test shows the answer, and ends with 1 when it was no 2xx', async () => {
    const { id } = await made()
    status = 500
    try {
      const { code, stdout } = await run(['webhooks', 'test', id], { environment })
      assert.equal(code, 1)
      assert.match(stdout, /answered with 500: an event would be tried again/)
    } finally {
      status = 200
    }
  })

  it('pause, resume, secret, replay and delete do what they say', async () => {
    const { id, secret } = await made()
    const pause = await run(['webhooks', 'pause', id], { environment })
    assert.match(pause.stderr, new RegExp(`Webhook ${id} is paused \\(asked\\), after 0`))
    assert.match((await run(['webhooks', 'resume', id], { environment })).stderr, /is enabled, after 0/)
    const next = await runJson<MadeWebhook>(['webhooks', 'secret', id, '--overlap', '60'], { environment })
    assert.notEqual(next.secret, secret)
    messages.length = 0
    await run(['webhooks', 'test', id], { environment })
    for (const one of [secret, next.secret])
      new Webhook(one).verify(messages[0]?.body ?? '', messages[0]?.headers ?? {})
    const moved = await run(['webhooks', 'replay', id, '--after', 'head'], { environment })
    assert.match(moved.stderr, /goes on after 0\./)
    assert.match(
      (await run(['webhooks', 'replay', id, '--given-up'], { environment })).stderr,
      /Events of 0 properties are sent again/,
    )
    const none = await run(['webhooks', 'deliveries', id], { environment })
    assert.match(none.stdout, /Nothing was sent within the last 7 days/)
    assert.match((await run(['webhooks', 'delete', id], { environment })).stderr, /is deleted/)
    const gone = await run(['webhooks', 'test', id], { environment })
    assert.equal(gone.code, 1)
    assert.match(gone.stderr, /\(404, webhook_not_found, request \S+\)/)
  })

  it('that were made get each event that is published, and replay sends it again', async () => {
    const { id, secret } = await made()
    messages.length = 0
    const client = createClient({ baseUrl: running.line.url, key: publishKey })
    const caption = 'Tŷ â gardd – £450,000 🏡'
    await client.publish([{ payload: { agent_ref: home, published: true, details: { summary: caption } } }])
    const ofThis = () =>
      messages.filter(({ headers, body }) => {
        try {
          new Webhook(secret).verify(body, headers)
          return body.includes(home)
        } catch {
          return false
        }
      })
    await until(() => ofThis().length === 1, { what: 'the event' })
    assert.ok(ofThis()[0]?.body.includes(caption))
    await until(
      async () => (await run(['webhooks', 'deliveries', id], { environment })).stdout.includes(home),
      { what: 'the delivery in the log' },
    )
    const { stdout } = await run(['webhooks', 'deliveries', id], { environment })
    assert.match(stdout, /acknowledged +200 +\d+ ms +diolch – £/)
    const again = await run(['webhooks', 'replay', id, '--after', '0'], { environment })
    assert.match(again.stderr, /goes on after 0\./)
    await until(() => ofThis().length === 2, { what: 'the same event again' })
    const [first, second] = ofThis().map(({ headers }) => headers['webhook-id'])
    assert.equal(first, second)
  })

  const wrong: readonly (readonly [args: readonly string[], words: RegExp])[] = [
    [['create', 'http://10.0.0.1/hooks'], /leads to an address that is not public/],
    [['create', 'ftp://www.example.com'], /begins with https:\/\//],
    [['create', 'https://www.example.com/', '--concurrency', '17'], /--concurrency is "17"/],
    [['create', 'https://www.example.com/', '--feed', 'contact'], /contact:webhooks/],
    [['test', 'website'], /"website" is not the id of a webhook, a UUID/],
    [['replay', '0194b3e0-0000-7000-8000-00000000bbbb'], /exactly one of --after, --event and --given-up/],
    [['replay', '0194b3e0-0000-7000-8000-00000000bbbb', '--after', 'monday'], /a whole number or head/],
  ]
  for (const [args, words] of wrong) {
    it(`says what is wrong with: webhooks ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run(['webhooks', ...args], { environment })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, words)
    })
  }

  it('says which scope a key lacks, and where no service answers', async () => {
    const { stderr } = await run(['webhooks', 'create', url], { environment: readOnly })
    assert.match(stderr, /property:webhooks/)
    const away = await run(['webhooks', 'list', '--url', 'http://127.0.0.1:2'], { environment })
    assert.match(away.stderr, /http:\/\/127\.0\.0\.1:2 does not answer \(ECONNREFUSED\)/)
  })
})
