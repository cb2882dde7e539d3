/** The examples in TypeScript as a reader of docs/consuming.md gets them: its commands, in an empty folder beside the clone. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { Publication } from '@property-events/client'
import { Client } from 'pg'
import { testDatabases } from '../packages/server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../packages/server/test/postgres/test-databases.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'property-events-installed-'))
const clone = join(folder, 'property-events')
const website = join(folder, 'website')

/** The block of commands in docs/consuming.md that holds this text, without its remarks. */
function commandsWith(text: string): readonly string[] {
  const document = readFileSync(join(root, 'docs/consuming.md'), 'utf8')
  const block = [...document.matchAll(/^```text\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  const found = block.find((lines) => lines.includes(text))
  assert.ok(found !== undefined, `no commands with ${text}`)
  return found.split('\n').flatMap((line) => line.replace(/\s+#.*/, '') || [])
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A line as a shell runs it. npm keeps to what is on this machine. */
async function run(line: string, cwd: string, environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const path = dirname(process.execPath) + delimiter + (process.env['PATH'] ?? '')
  const quiet = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  const child = spawn('/bin/sh', ['-c', line], {
    cwd,
    env: { ...process.env, ...quiet, PATH: path, ...environment },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

async function succeed(line: string, cwd: string): Promise<void> {
  const { code, stderr } = await run(line, cwd)
  assert.equal(code, 0, `${line}\n${stderr}`)
}

/** In place of `npm install pg`, which needs a registry: pg as it is installed here, with what it needs. */
function installPg(name = 'pg'): void {
  const target = join(website, 'node_modules', name)
  if (existsSync(target)) return
  const source = join(root, 'node_modules', name)
  cpSync(source, target, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const needed of Object.keys(manifest.dependencies ?? {})) installPg(needed)
}

const photographAt = (place: number | null, url: string, type = 1) => ({
  media_type: type,
  media_url: url,
  ...(place === null ? {} : { sort_order: place }),
})
/** The list is in another order than the places, and the first of all places is a floor plan's. */
const media = [
  photographAt(null, 'https://photos.example/without-a-place.jpg'),
  photographAt(3, 'https://photos.example/kitchen.jpg'),
  photographAt(0, 'https://photos.example/plan.png', 2),
  photographAt(1, 'https://photos.example/front.jpg'),
  photographAt(2, 'https://photos.example/garden.jpg'),
]

describe('the examples in an empty project, by the commands of docs/consuming.md', () => {
  const refs = Array.from({ length: 40 }, () => randomUUID())
  let service: TestService
  let databases: TestDatabases

  before(async () => {
    service = await startTestService()
    databases = await testDatabases()
    // The clone, without what building leaves in it.
    mkdirSync(clone)
    for (const name of [
      'packages',
      'examples',
      'docs',
      'scripts',
      'node_modules',
      'package.json',
      'package-lock.json',
    ]) {
      symlinkSync(join(root, name), join(clone, name))
    }
    for (const line of commandsWith('npm run pack -- ../packages client')) {
      if (line.startsWith('npm install')) continue
      await succeed(line, clone)
    }
    for (const line of commandsWith('npm pkg set type=module')) {
      if (line.startsWith('node ')) continue
      if (line === 'npm install pg') installPg()
      else await succeed(line.replace(' && cd website', ''), existsSync(website) ? website : folder)
    }
  })
  after(async () => {
    await service.stop()
    await databases[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  /** The command as it is printed. */
  async function start(example: string, environment: NodeJS.ProcessEnv, flags = ''): Promise<Ended> {
    const line = commandsWith('npm pkg set type=module').find((text) => text.includes(`node ${example}`))
    assert.ok(line !== undefined)
    return run(`${line} ${flags}`, website, {
      PROPERTY_EVENTS_URL: service.url,
      PROPERTY_EVENTS_KEY: service.tenant.readKey,
      ...environment,
    })
  }

  async function publish(publications: readonly Publication[]): Promise<void> {
    await createClient({ baseUrl: service.url, key: service.tenant.publishKey }).publish(publications)
  }

  interface Row {
    readonly agent_ref: string
    readonly photograph: string | null
  }

  const sqlitePath = join(website, 'website.db')
  let databaseUrl = ''
  const tables = [
    {
      example: 'property-table-sqlite.ts',
      environment: async () => ({}),
      rows: async (): Promise<readonly Row[]> => {
        const database = new DatabaseSync(sqlitePath)
        const rows = database.prepare('SELECT agent_ref, photograph FROM property').all()
        database.close()
        return rows.map((row) => ({
          agent_ref: String(row['agent_ref']),
          photograph: row['photograph'] === null ? null : String(row['photograph']),
        }))
      },
    },
    {
      example: 'property-table-postgres.ts',
      environment: async () => {
        databaseUrl ||= await databases.create()
        return { WEBSITE: databaseUrl }
      },
      rows: async (): Promise<readonly Row[]> => {
        const database = new Client({ connectionString: databaseUrl })
        await database.connect()
        try {
          const { rows } = await database.query<Row>('SELECT agent_ref, photograph FROM property')
          return rows
        } finally {
          await database.end()
        }
      },
    },
  ] as const

  for (const { example, environment, rows } of tables) {
    it(`runs ${example} as printed, and takes the photograph that belongs first`, async () => {
      await publish(
        refs.map((agent_ref, index) => ({
          payload: {
            agent_ref,
            published: true,
            price_information: { price: 250_000 },
            media: index === 0 ? [photographAt(0, 'https://photos.example/plan.png', 2)] : media,
          },
        })),
      )
      const { code, stderr } = await start(example, await environment())
      assert.equal(code, 0, stderr)
      const photographs = new Map((await rows()).map((row) => [row.agent_ref, row.photograph]))
      assert.equal(photographs.size, refs.length)
      for (const [index, ref] of refs.entries()) {
        assert.equal(photographs.get(ref), index === 0 ? null : 'https://photos.example/front.jpg')
      }
    })

    it(`ends ${example} with a sentence when too much would go, and takes --allow-mass-removal`, async () => {
      const going = refs.slice(0, 30)
      await publish(going.map((agentRef) => ({ remove: { agentRef, reason: 'sold' } })))
      const stopped = await start(example, await environment())
      assert.equal(stopped.code, 1)
      assert.match(stopped.stderr, /these 30, 30 of 40 in the copy.*within 24 hours.*updates have stopped/)
      assert.match(stopped.stderr, /--allow-mass-removal/)
      assert.doesNotMatch(stopped.stderr, /\n\s+at /)
      assert.equal((await rows()).length, 40)
      const allowed = await start(example, await environment(), '--allow-mass-removal')
      assert.equal(allowed.code, 0, allowed.stderr)
      assert.equal((await rows()).length, 10)
    })

    it(`ends ${example} with a sentence for a wrong key, address or flag`, async () => {
      const refused = await start(example, { ...(await environment()), PROPERTY_EVENTS_KEY: 'pev_wrong' })
      assert.match(refused.stderr, /key/)
      const none = await start(example, { ...(await environment()), PROPERTY_EVENTS_KEY: '' })
      assert.match(none.stderr, /^No API key is given: set PROPERTY_EVENTS_KEY\.\n$/)
      const redirected = await start(example, {
        ...(await environment()),
        PROPERTY_EVENTS_URL: 'feed.example.com',
      })
      assert.match(redirected.stderr, /https:\/\/feed\.example\.com/)
      const misspelled = await start(example, await environment(), '--allow-mass-removals')
      assert.match(misspelled.stderr, /--allow-mass-removals/)
      for (const { code, stderr } of [refused, none, redirected, misspelled]) {
        assert.equal(code, 1)
        assert.doesNotMatch(stderr, /\n\s+at /)
      }
    })
  }
})
