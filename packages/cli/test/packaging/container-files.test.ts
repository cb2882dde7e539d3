/** The container file and the compose files: what can be held without a container runtime. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { readChecksums } from '../../carried-node/index.mjs'
import { variableNames } from '../../src/settings/settings.ts'
import { instructionsIn } from '../support/container-file.ts'
import { root } from '../support/documents.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'

const instructions = instructionsIn(readFileSync(join(root, 'Dockerfile'), 'utf8'))
const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const argumentsOf = (name: string) => last.filter((one) => one.name === name).map((one) => one.words)

interface ComposeService {
  readonly image?: string
  readonly build?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly stop_grace_period?: string
  readonly healthcheck?: object
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
}

const composeFiles = ['sqlite', 'postgres'].map((name) => {
  const path = join(root, `deploy/compose/${name}.yaml`)
  return [name, parse(readFileSync(path, 'utf8'), { merge: true, strict: true }) as Compose] as const
})

describe('the container file', () => {
  it('takes the Node that is known here, in a slim image and in the same version for building and serving', () => {
    const images = instructions.filter(({ name }) => name === 'FROM').map(({ words }) => words[0])
    assert.equal(images.length, 2)
    const version = readChecksums().platforms['linux x64']?.version
    for (const image of images) assert.match(image ?? '', new RegExp(`^node:${version}-\\w+-slim$`))
  })

  it('copies what is in the clone and not kept from it', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    const sources = instructions
      .filter(({ name, words }) => name === 'COPY' && !words[0]?.startsWith('--from'))
      .flatMap(({ words }) => words.slice(0, -1))
    assert.ok(sources.length > 8)
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), source)
      assert.ok(ignored.includes(`!${source.split('/')[0]}`), `${source} is kept from the build`)
    }
    // Whatever else lies in the clone, such as a store or secrets, is no part of the build.
    assert.ok(ignored.includes('*'))
  })

  it('serves as a user who is not root, with its data in one place, and installs nothing that runs a script', () => {
    assert.deepEqual(argumentsOf('USER'), [['1000:1000']])
    const [volume] = argumentsOf('VOLUME')
    const variables = argumentsOf('ENV')
      .flat()
      .map((one) => one.split('='))
    assert.deepEqual(Object.fromEntries(variables)['PROPERTY_EVENTS_DATA'], volume?.[0])
    for (const [name = ''] of variables) assert.ok(variableNames.includes(name), name)
    for (const { name, text } of instructions) {
      if (name === 'RUN' && text.includes('npm ci')) assert.match(text, /npm ci --ignore-scripts/)
    }
    assert.deepEqual(argumentsOf('CMD'), [['serve']])
  })

  it('asks the service itself whether it lives, with what the image has (D21)', async () => {
    const command = argumentsOf('HEALTHCHECK')[0] ?? []
    const words = command.slice(command.indexOf('CMD') + 1)
    assert.equal(words[0], 'node')
    const folder = temporaryFolder()
    const service = await start(['serve', '--data', folder])
    const env = { ...process.env, PROPERTY_EVENTS_METRICS_PORT: new URL(service.line.metricsUrl).port }
    const health = () => spawnSync(process.execPath, words.slice(1), { env, encoding: 'utf8' }).status
    assert.equal(health(), 0)
    await service.stop()
    assert.equal(health(), 1)
    removeFolder(folder)
  })
})

describe('the compose files', () => {
  for (const [name, { services, volumes, secrets = {} }] of composeFiles) {
    const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined)

    it(`of ${name} serve from a read-only image, without rights, on this machine alone (D11)`, () => {
      assert.ok(nodes.length > 0)
      for (const [, node] of nodes) {
        assert.equal(node.read_only, true)
        assert.deepEqual(node.cap_drop, ['ALL'])
        assert.deepEqual(node.security_opt, ['no-new-privileges:true'])
        for (const port of node.ports ?? []) assert.match(port, /^127\.0\.0\.1:\d+:8080$/)
        // The drain, the requests under way and the longest commit come first.
        assert.ok(Number.parseInt(node.stop_grace_period ?? '', 10) >= 50)
        assert.ok(node.volumes?.some((volume) => volume.endsWith(':/var/lib/property-events')))
      }
    })

    it(`of ${name} name settings, volumes and secrets that there are, and hold no secret (D11)`, () => {
      for (const [, { environment = {}, volumes: used = [], secrets: taken = [] }] of Object.entries(
        services,
      )) {
        for (const [variable, value] of Object.entries(environment)) {
          if (variable.startsWith('PROPERTY_EVENTS_')) assert.ok(variableNames.includes(variable), variable)
          assert.doesNotMatch(`${variable}=${value}`, /(?:PASSWORD|KEY|PEPPER|DATABASE)=|postgres:\/\//)
          const [, secret] = /^\/run\/secrets\/(.*)$/.exec(value) ?? []
          if (secret !== undefined) assert.ok(taken.includes(secret), secret)
        }
        for (const volume of used) assert.ok(Object.hasOwn(volumes, volume.split(':')[0] ?? ''), volume)
        for (const secret of taken) assert.ok(Object.hasOwn(secrets, secret), secret)
      }
    })
  }

  it('of PostgreSQL start the nodes when the database is ready, and give both the same pepper', () => {
    const services = Object.entries(composeFiles[1]?.[1].services ?? {})
    const nodes = services.filter(([, { build }]) => build !== undefined).map(([, node]) => node)
    assert.equal(nodes.length, 2)
    for (const node of nodes) {
      assert.deepEqual(node.depends_on, { database: { condition: 'service_healthy' } })
      assert.deepEqual(node.environment, nodes[0]?.environment)
    }
    assert.ok(services.find(([name]) => name === 'database')?.[1].healthcheck !== undefined)
  })
})
