/** Signing in to the console from the command line: beside a service that runs, and on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

interface PrintedLink {
  readonly url: string
  readonly expiresAt: string
  readonly keyId: string
}

const root = temporaryFolder()
after(() => removeFolder(root))

/** What the page does with a link that it was opened with. */
function open(link: string, base = link): Promise<Response> {
  const { hash } = new URL(link)
  return fetch(new URL('/console/session', new URL(base).origin), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(base).origin },
    body: JSON.stringify({ login: hash.replace('#login=', '') }),
  })
}

describe('property-events console', () => {
  it('prints a link of the service that runs, with a key that ends today (PROTOCOL §15.3)', async () => {
    const data = ['--data', `${root}/file`]
    const service = await start(['serve', '--console', ...data])
    const { code, stdout, stderr } = await run(['console', ...data])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/console\/#login=[\w-]{22}\n$/)
    assert.match(stderr, /within 10 minutes\. It works once/)
    assert.ok(stdout.startsWith(service.line.url))
    const answer = await open(stdout)
    assert.equal(answer.status, 201)
    const { key, expiresAt } = (await answer.json()) as {
      key: { keyId: string; operator: boolean; expiresAt: string }
      expiresAt: string
    }
    assert.equal(key.operator, true)
    const hours = (Date.parse(key.expiresAt) - Date.now()) / 3_600_000
    assert.ok(hours > 11.9 && hours <= 12, `${hours}`)
    assert.ok(Date.parse(expiresAt) >= Date.parse(key.expiresAt))
    assert.equal((await open(stdout)).status, 401)
    const rows = await run(['audit', 'list', ...data])
    assert.match(rows.stdout, /session\.begun/)
    assert.equal((await service.stop()).code, 0)

    const idle = await run(['console', ...data])
    assert.match(idle.stdout, /^http:\/\/127\.0\.0\.1:8080\/console\/#login=/)
    assert.match(idle.stderr, /No running service of this store has its console on.*serve --console/)
  })

  it('prints one for a key that there is, at the address that is named, on PostgreSQL too (PROTOCOL §15.3)', async () => {
    await using databases = await testDatabases()
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const outside = ['--url', 'https://feed.example.com']
    const node = await start(['serve', '--console', '--data', `${root}/node`, ...outside], { environment })
    const made = await runJson<{ key: string; keyId: string }>(
      ['keys', 'create', '--operator', '--scope', 'admin:inspect'],
      { environment },
    )
    const announced = await runJson<PrintedLink>(['console', '--key', made.key], { environment })
    assert.match(announced.url, /^https:\/\/feed\.example\.com\/console\/#login=/)
    assert.equal(announced.keyId, made.keyId)
    const named = await runJson<PrintedLink>(['console', '--url', node.line.url], { environment })
    assert.ok(named.url.startsWith(`${node.line.url}/console/#login=`))
    assert.notEqual(named.keyId, made.keyId)
    const minutes = (Date.parse(named.expiresAt) - Date.now()) / 60_000
    assert.ok(minutes > 9 && minutes <= 10, `${minutes}`)
    assert.equal((await open(named.url)).status, 201)
    assert.equal((await open(announced.url, node.line.url)).status, 201)

    const fromShell = await run(['console'], {
      environment: { ...environment, PROPERTY_EVENTS_KEY: made.key },
    })
    assert.ok(fromShell.stderr.includes(`It signs in with the key from PROPERTY_EVENTS_KEY, ${made.keyId}.`))
    const wrong = await run(['console', '--key', `${made.key}x`], { environment })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /The key from --key is not a key of this store/)
    assert.equal((await node.stop()).code, 0)
  })

  it('reports where the console cannot be, before a service starts (PROTOCOL §15.2)', async () => {
    const data = ['--data', `${root}/none`]
    const path = await run(['serve', '--console', '--url', 'https://example.com/feeds', ...data])
    assert.match(path.stderr, /--url is "https:\/\/example\.com\/feeds", but with --console it has no path/)
    const hosts = await run(['serve', '--console-images', "images.example.com,'self'", ...data])
    assert.match(hosts.stderr, /--console-images is .*, but must be hosts such as images\.example\.com/)
  })
})
