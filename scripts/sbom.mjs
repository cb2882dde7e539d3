/**
 * Prints what the program consists of, as CycloneDX 1.5 in JSON: `npm run --silent sbom > sbom.json`. npm lists the packages that
 * package-lock.json names, those of tests and checks left out; the Node that comes with them and the SQLite in better-sqlite3 are added, under
 * the names that advisories have for them, because a list of packages does not show them.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { readChecksums } from '../packages/cli/carried-node/index.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const document = withoutTools(JSON.parse(listOfPackages()))
// npm calls it by its folder.
document.metadata.component.name = document.metadata.component['bom-ref'].replace(/@[^@]*$/, '')
document.metadata.component.type = 'application'
document.components.push(...nodePrograms(), sqlite())
document.components.sort((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1))
document.dependencies.push(
  ...document.components
    .filter(({ type }) => type !== 'library')
    .map((component) => ({ ref: component['bom-ref'], dependsOn: [] })),
)
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)

function listOfPackages() {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const npmProgram = process.env.npm_execpath
  const [command, before] = npmProgram === undefined ? ['npm', []] : [process.execPath, [npmProgram]]
  const { status, stdout, stderr } = spawnSync(command, [...before, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    shell: npmProgram === undefined && process.platform === 'win32',
    // The npm that started this says which packages to omit through its own variables.
    env: {
      ...process.env,
      npm_config_production: undefined,
      npm_config_omit: undefined,
      NODE_ENV: undefined,
    },
  })
  if (status !== 0) {
    process.stderr.write(`npm could not list the packages (npm 10 or newer can): ${stderr}\n`)
    process.exit(1)
  }
  return stdout
}

/**
 * Without what only tests and checks need, as package-lock.json says. npm's own `--omit=dev` leaves out too much: everything that a
 * tool needs, also where the program needs it as well.
 */
function withoutTools({ components, dependencies, ...rest }) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const serving = new Set(
    Object.entries(packages)
      .filter(([, { dev }]) => dev !== true)
      .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
  )
  const kept = components.filter((component) => serving.has(component['bom-ref']) || !component.hashes)
  const refs = new Set([rest.metadata.component, ...kept].map((component) => component['bom-ref']))
  const needed = dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
  return { ...rest, components: kept, dependencies: needed }
}

/** The program in each package that carries one, for each platform: one of them serves. */
function nodePrograms() {
  return Object.entries(readChecksums().platforms).map(([platform, { version, package: name, sha256 }]) => ({
    'bom-ref': `node-program-${platform.replace(' ', '-')}`,
    type: 'platform',
    name: 'node',
    version,
    description: `Node.js for ${platform}, carried by ${name}`,
    scope: 'optional',
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}?download_url=https://nodejs.org/dist/v${version}/`,
  }))
}

/** It lies in better-sqlite3 as source text, under no name of its own. */
function sqlite() {
  const db = new Database(':memory:')
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
  db.close()
  return {
    'bom-ref': `sqlite-${version}`,
    type: 'application',
    name: 'sqlite',
    version,
    description: 'SQLite, compiled into better-sqlite3',
    cpe: `cpe:2.3:a:sqlite:sqlite:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/sqlite@${version}`,
  }
}
