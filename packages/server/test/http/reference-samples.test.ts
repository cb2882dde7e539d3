/** The samples at `/docs` as a reader copies them: each is run against a service, and those in TypeScript are checked strictly as well. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { adminScopes } from '@property-events/protocol'
import { ids } from '../../../../scripts/reference/samples/request.ts'
import { schemaExamples } from '../../../protocol/schemas/generators/examples.ts'
import { call, publish } from '../support/http-client.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { makeWebhook, webhookKey } from '../support/webhooks.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')
const html = readFileSync(join(root, 'packages/server/src/http/openapi/reference/page.html'), 'utf8')
const hasPhp = spawnSync('php', ['--version']).status === 0

/** What erases comes last: the others need what it takes. */
const operations = operationsOf(committedDocument())
  .filter(({ method }) => method !== 'HEAD')
  .toSorted((left, right) => Number(left.tags.includes('Erasing')) - Number(right.tags.includes('Erasing')))

const webhookOperations = new Set(
  operations.flatMap(({ operationId, path }) => (path.includes('{webhookId}') ? [operationId] : [])),
)

function sampleOf(operationId: string, language: string): string {
  const [, section = ''] = html.split(`<section id="${operationId}"`)
  const [, text] = section.split(`data-language="${language}"`)[1]?.match(/<code>(.*?)<\/code>/s) ?? []
  assert.ok(text !== undefined, `${operationId} has a sample in ${language}`)
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

describe('the samples of the reference', () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-samples-'))
  let service: TestService
  let environment: NodeJS.ProcessEnv
  let keys: Readonly<Record<'read' | 'publish' | 'erase' | 'webhooks' | 'admin', string>>

  before(async () => {
    // Streams end soon.
    service = await startTestService({ limits: { streamMs: 1_000 } })
    const { readKey, publishKey, eraseKey } = service.tenant
    const { text: adminKey } = await service.issue({ operator: true, adminScopes })
    for (const [feed, payload] of [
      ['property', schemaExamples['PropertyPayload']],
      ['contact', schemaExamples['ContactPayload']],
    ] as const)
      await publish(service, { id: ids.event, payload }, { feed })
    keys = {
      read: readKey,
      publish: publishKey,
      erase: eraseKey,
      webhooks: await webhookKey(service),
      admin: adminKey,
    }
    environment = {
      ...process.env,
      PROPERTY_EVENTS_URL: service.url,
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    }
    // A machine with git and Node alone has no curl; then the same requests are made by Node.
    if (spawnSync('curl', ['--version']).status !== 0) {
      const standIn = join(root, 'packages/cli/test/support/curl.ts')
      writeFileSync(join(folder, 'curl'), `#!/bin/sh\nexec "${process.execPath}" "${standIn}" "$@"\n`)
      chmodSync(join(folder, 'curl'), 0o755)
    }
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  /** One that has the scope which the operation asks for first, as a reader of its sample has. */
  function keyFor({ 'x-scopes': [scope = 'property:read'] = [] }: (typeof operations)[number]): string {
    const [first, right] = scope.split(':')
    if (first === 'admin') return keys.admin
    return right === 'publish' || right === 'erase' || right === 'webhooks' ? keys[right] : keys.read
  }

  /** What a shell has in which the key was set. */
  const withKeyFor = (operation: (typeof operations)[number]): NodeJS.ProcessEnv => ({
    ...environment,
    PROPERTY_EVENTS_KEY: keyFor(operation),
  })

  /** A webhook that nothing else needs. */
  async function spareWebhook(): Promise<string> {
    return (await makeWebhook(service, keys.webhooks)).id
  }

  /** A property that nothing else needs. */
  async function spareSubject(): Promise<string> {
    const { events } = await publish(service, {
      payload: { agent_ref: crypto.randomUUID(), published: false },
    })
    return events[0]?.transactionId ?? ''
  }

  /** A key that may be rotated or revoked. */
  async function spareKey(): Promise<string> {
    const grants = [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] as const }]
    return (await service.issue({ grants })).keyId
  }

  /** The id that the service gave. */
  async function begun(path: string, words: object): Promise<string> {
    const body = JSON.stringify({ feed: 'property', subjectId: await spareSubject(), ...words })
    const headers = { 'content-type': 'application/json' }
    const answer = await call(service, path, { method: 'POST', key: service.tenant.eraseKey, headers, body })
    assert.ok(answer.status < 300, answer.text)
    return (JSON.parse(answer.text) as { id: string }).id
  }

  async function spareContact(): Promise<string> {
    const { events } = await publish(
      service,
      { payload: { contact_ref: crypto.randomUUID() } },
      { feed: 'contact' },
    )
    return events[0]?.transactionId ?? ''
  }

  /** A tenant that nothing else needs. It is deleted without an export: this service has no folder for one. */
  async function spareTenant(): Promise<string> {
    const tenantId = crypto.randomUUID()
    const tenant = { tenantId, name: tenantId, createdMs: Date.now(), suspended: true }
    assert.equal(await service.storage.tenants.createTenant(tenant, 'cli:test'), 'created')
    return `${tenantId}?export=none`
  }

  async function deleted(): Promise<string> {
    const path = `/v1/admin/tenants/${await spareTenant()}`
    const answer = await call(service, path, { method: 'DELETE', key: keys.admin })
    assert.equal(answer.status, 202, answer.text)
    return (JSON.parse(answer.text) as { id: string }).id
  }

  async function restricted(): Promise<string> {
    const subjectId = await spareContact()
    return begun('/v1/restrictions', { feed: 'contact', subjectId, reason: 'objection' })
  }

  /** As it stands but for the ids of what is erased and held: each language begins anew, and no document knows a receipt's id. */
  async function textOf(operationId: string, language: string): Promise<string> {
    const idOf: Readonly<Record<string, () => Promise<string>>> = {
      erase: spareSubject,
      adminErase: spareSubject,
      adminGetErasure: () => begun('/v1/erasures', { reason: 'unlawful' }),
      addHold: spareSubject,
      restrictContact: spareContact,
      getRestriction: restricted,
      endRestriction: restricted,
      keepExpiringContact: spareContact,
      getDeletion: deleted,
      getErasure: () => begun('/v1/erasures', { reason: 'unlawful' }),
      endHold: () => begun('/v1/holds', { ground: 'complaint', until: '2036-12-31' }),
    }
    const needsWebhook = webhookOperations.has(operationId)
    const id = needsWebhook ? await spareWebhook() : await idOf[operationId]?.()
    const feed = operationId.includes('Contact') ? 'contact' : 'property'
    const epoch =
      (await service.storage.events.head({ tenantId: service.tenant.tenantId, feed }))?.epoch ?? ''
    const tenant = operationId === 'deleteTenant' ? await spareTenant() : service.tenant.tenantId
    const text = sampleOf(operationId, language)
      .replaceAll(ids.tenant, tenant)
      .replaceAll(ids.key, await spareKey())
      // Where a consumer is, in this feed.
      .replaceAll(/(epoch['"]?(?::| =>) ?['"])1(?=['"])/g, (_, begin: string) => begin + epoch)
      // A name is given once.
      .replaceAll('Example Lettings, Guildford', `Example ${crypto.randomUUID()}`)
      .replaceAll('crm-4711', crypto.randomUUID())
    return id === undefined ? text : text.replaceAll(ids.property, id).replaceAll(ids.contact, id)
  }

  it('in curl are answered with what the operation answers (D21)', async () => {
    for (const operation of operations) {
      const { operationId, method, tags } = operation
      const script = await textOf(operationId, 'curl')
      const { stdout } = await run('/bin/sh', ['-euc', script], {
        env: withKeyFor(operation),
        maxBuffer: 1 << 24,
      })
      const [, target = ''] = /"\$PROPERTY_EVENTS_URL([^"]*)"/.exec(script) ?? []
      // A count is the shortest answer; what is answered with 204 has no body.
      assert.ok(stdout.length >= '{"properties":1}'.length || method === 'PUT', operationId)
      if (method !== 'GET' || tags.includes('Erasing') || tags.includes('Administration')) continue
      // Its sentences say how long ago something was.
      if (operationId === 'getPropertyConsumers') continue
      const { text } = await call(service, target, { key: keyFor(operation) })
      // The terms are of now, in two places.
      const momentless = (answer: string) =>
        operationId === 'getPropertyTerms'
          ? answer.replaceAll(/"(?:at|recordedFrom)":"[^"]*"|as of [^.]*/g, '')
          : answer
      assert.equal(momentless(stdout), momentless(text), operationId)
    }
  })

  it('in TypeScript check strictly, and run (D21)', async () => {
    mkdirSync(join(folder, 'node_modules/@property-events'), { recursive: true })
    symlinkSync(join(root, 'packages/client'), join(folder, 'node_modules/@property-events/client'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const compilerOptions = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')], noEmit: true }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'], exclude: [] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const names = operations.map(({ operationId }) => operationId)
    for (const name of names) {
      // Without an import or export, it would share its names with the others.
      writeFileSync(join(folder, `${name}.ts`), `${await textOf(name, 'typescript')}\nexport {}\n`)
    }
    const all = operations
      .map((operation) => {
        const { operationId: name } = operation
        return `console.log('\\n=== ${name}')
process.env.PROPERTY_EVENTS_KEY = '${keyFor(operation)}'
await import('./${name}.ts')`
      })
      .join('\n')
    writeFileSync(join(folder, 'all.mjs'), all)
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const checked = await run(process.execPath, [compiler, '-p', folder]).catch(
      (error: { stdout: string }) => error,
    )
    assert.equal(checked.stdout, '')
    const { stdout } = await run(process.execPath, [join(folder, 'all.mjs')], {
      env: environment,
      maxBuffer: 1 << 24,
    })
    const printed = stdout.split('\n=== ').slice(1)
    assert.deepEqual(
      printed.map((text) => text.slice(0, text.indexOf('\n'))),
      names,
    )
    for (const text of printed) assert.match(text, /\n./, text)
  })

  it(
    'in PHP run, without a warning (D21)',
    { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' },
    async () => {
      for (const operation of operations) {
        const { operationId } = operation
        const text = await textOf(operationId, 'php')
        const path = join(folder, `${operationId}.php`)
        writeFileSync(path, text)
        const args = ['-d', 'display_errors=1', '-d', `include_path=${join(root, 'examples/php')}`, path]
        const { stdout } = await run('php', args, { env: withKeyFor(operation), maxBuffer: 1 << 24 })
        assert.doesNotMatch(
          stdout,
          /^(?:PHP )?(?:Warning|Notice|Deprecated|Fatal error):|^ {4}\[requestId\]/m,
          operationId,
        )
        assert.ok(stdout.trim().length > 5, operationId)
      }
    },
  )
})
