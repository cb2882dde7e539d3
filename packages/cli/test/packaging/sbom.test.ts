/** `npm run sbom`: what the program consists of, as CycloneDX, whole and in a form that other tools read. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { Ajv } from 'ajv'
import Database from 'better-sqlite3'
import { readChecksums } from '../../carried-node/index.mjs'
import { root } from '../support/documents.ts'

interface Component {
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly cpe?: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
}

interface Bom {
  readonly specVersion: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly name?: string
}

const schemas = join(
  dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
  'res/schema',
)
const schemaOf = (name: string): object =>
  JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8'))

function validatorOf(specVersion: string) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  return ajv
    .addSchema(schemaOf('spdx'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json')
    .addSchema(schemaOf('jsf-0.82'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json')
    .compile(schemaOf(`bom-${specVersion}`))
}

describe('npm run sbom', () => {
  let text = ''
  let bom: Bom
  before(() => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'sbom'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    assert.equal(status, 0, stderr)
    text = stdout
    bom = JSON.parse(text) as Bom
  })

  it('prints a document that the schema of CycloneDX allows, and the schema would refuse another', () => {
    const validate = validatorOf(bom.specVersion)
    assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors?.slice(0, 3)))
    assert.equal(validate({ ...bom, bomFormat: 'Other' }), false)
    assert.equal(validate({ ...bom, components: [{ type: 'library' }] }), false)
  })

  it('has every package that serves, with the checksum of package-lock.json, and none of tests and checks', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, LockedPackage>>
    }
    const locked = Object.entries(packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && link !== true,
    )
    assert.ok(locked.some(([, { dev }]) => dev === true) && locked.some(([, { dev }]) => dev !== true))
    for (const [path, { version, integrity, dev }] of locked) {
      const name = path.split('node_modules/').at(-1) ?? ''
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
      const component = bom.components.find((one) => one.purl === purl)
      if (dev === true) assert.equal(component, undefined, name)
      else {
        const content = Buffer.from(integrity?.replace('sha512-', '') ?? '', 'base64').toString('hex')
        assert.deepEqual(component?.hashes, [{ alg: 'SHA-512', content }], name)
      }
    }
  })

  it('names Node and SQLite as advisories do, with the versions that serve', () => {
    const nodes = bom.components.filter(({ cpe }) => cpe?.startsWith('cpe:2.3:a:nodejs:node.js:'))
    assert.deepEqual(
      nodes.map(({ cpe, hashes }) => `${cpe} ${hashes?.[0]?.content}`).toSorted(),
      Object.values(readChecksums().platforms)
        .map(({ version, sha256 }) => `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:* ${sha256}`)
        .toSorted(),
    )
    const db = new Database(':memory:')
    const sqlite = String(db.prepare('SELECT sqlite_version()').pluck().get())
    db.close()
    assert.ok(bom.components.some(({ cpe }) => cpe === `cpe:2.3:a:sqlite:sqlite:${sqlite}:*:*:*:*:*:*:*`))
  })

  it('names itself and, once each, everything that something needs', () => {
    assert.equal(bom.metadata.component.name, 'property-events')
    const refs = [bom.metadata.component, ...bom.components].map((one) => one['bom-ref'])
    assert.equal(new Set(refs).size, refs.length)
    for (const { ref, dependsOn } of bom.dependencies) {
      for (const one of [ref, ...dependsOn]) assert.ok(refs.includes(one), one)
    }
  })
})
