/** The tables that PHP keeps hold what those of `sync` hold: in SQLite, and where there is one in a MariaDB. */
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { PropertyPayload, Publication } from '@property-events/client'
import { pick, randomOf } from '../packages/client/test/support/random.ts'
import type { Random } from '../packages/client/test/support/random.ts'
import { hasDriver } from './php-runner.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'
import { until } from '../packages/server/test/support/until.ts'
import { keepTables, openTables } from '../packages/tables/src/index.ts'

type Row = Readonly<Record<string, unknown>>

const folder = mkdtempSync(join(tmpdir(), 'property-events-php-tables-'))
const program = join(import.meta.dirname, 'php/copy-to-tables.php')
const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
after(() => rmSync(folder, { recursive: true, force: true }))

/** A database for PHP, and what is missing here to try it. */
interface Place {
  readonly name: string
  readonly missing: string | undefined
  open(): Promise<void>
  close(): Promise<void>
  readonly target: string
  readonly environment: Readonly<Record<string, string>>
}

function sqlite(): Place {
  const target = `sqlite:${join(folder, 'php.db')}`
  const missing = hasDriver('pdo_sqlite') ? undefined : 'apt-get install php-cli php-sqlite3'
  return {
    name: 'SQLite',
    missing,
    open: async () => undefined,
    close: async () => undefined,
    target,
    environment: {},
  }
}

/** A server of its own in the test's folder, on a socket alone. */
function mariadb(): Place {
  const data = join(folder, 'mariadb')
  const socket = join(folder, 'mariadb.sock')
  const user = ['--no-defaults', `--datadir=${data}`, ...(process.getuid?.() === 0 ? ['--user=root'] : [])]
  let server: ReturnType<typeof spawn> | undefined
  const isThere = hasDriver('pdo_mysql') && spawnSync('mariadbd', ['--version']).status === 0
  const missing = isLong ? 'apt-get install php-mysql mariadb-server' : 'tried in test:long'
  return {
    name: 'MariaDB',
    missing: isLong && isThere ? undefined : missing,
    async open() {
      mkdirSync(data)
      const made = spawnSync('mariadb-install-db', [...user, '--auth-root-authentication-method=normal'])
      assert.equal(made.status, 0, String(made.stderr))
      server = spawn('mariadbd', [...user, '--skip-networking', `--socket=${socket}`], { stdio: 'ignore' })
      const make = `(new PDO('mysql:unix_socket=${socket}', 'root'))->exec('CREATE DATABASE website');`
      await until(() => spawnSync('php', ['-r', make]).status === 0, { what: 'MariaDB', everyMs: 200 })
    },
    async close() {
      const ended = new Promise((resolve) => server?.once('exit', resolve))
      server?.kill('SIGTERM')
      await ended
    },
    target: `mysql:unix_socket=${socket};dbname=website;charset=utf8mb4`,
    environment: { DB_USER: 'root' },
  }
}

const query = `
  $pdo = new PDO($argv[1], getenv('DB_USER') ?: null);
  $rows = fn ($table) => $pdo->query("SELECT * FROM $table ORDER BY 1, 2, 3")->fetchAll(PDO::FETCH_ASSOC);
  echo json_encode(array_map($rows, ['listings', 'listing_media', 'listing_removed']), JSON_THROW_ON_ERROR);`

/** All rows, as PHP reads them. */
function rowsOfPhp({ target, environment }: Place): readonly (readonly Row[])[] {
  const { stdout, stderr } = spawnSync('php', ['-r', query, target], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as readonly (readonly Row[])[]
}

const lists = new Set(['address_lines', 'features', 'payload'])
const moments = new Set(['price_changed_at', 'published_at', 'first_seen_at', 'removed_at'])

/** The same columns of the tables of `sync`, and moments as PHP writes them. */
function comparable(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(
    columns.map((column) => {
      const value = row[column]
      if (typeof value !== 'string') return [column, value]
      if (lists.has(column)) return [column, JSON.parse(value) as unknown]
      return [column, moments.has(column) ? value.replace('T', ' ').replace('Z', '') : value]
    }),
  )
}

/** Columns that only the tables of PHP have. */
const own = new Set(['is_stale'])

function assertSame(place: Place, file: string): void {
  const database = new Database(file)
  const [listings = [], media = [], removed = []] = ['listings', 'listing_media', 'listing_removed'].map(
    (table) => database.prepare<[], Row>(`SELECT * FROM ${table} ORDER BY reference, 3, 4`).all(),
  )
  database.close()
  const byKey = (rows: readonly Row[]) => rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const keyOf = ({ reference, kind, position }: Row) => JSON.stringify([reference, kind, position])
  const ofPhp = rowsOfPhp(place)
  for (const [index, expected] of [listings, media, removed].entries()) {
    const found = ofPhp[index] ?? []
    const columns = Object.keys(found[0] ?? {}).filter((column) => !own.has(column))
    assert.deepEqual(
      byKey(found).map((row) => comparable(row, columns)),
      byKey(expected).map((row) => comparable(row, columns)),
    )
  }
}

/** Welsh, pounds, dashes, curled quotes, emoji, and words that run from right to left. */
const words = 'Ŵy tŷ £5 – “it’s” — 🏡🍳 בית عربي T&ycirc; &#150; &pound;5 caf&eacute &#146;'

const refs = Array.from(
  { length: 40 },
  (_, index) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`,
)

/** A listing with something of everything: long, empty and odd texts, all kinds of prices and media. */
function shown(agentRef: string, random: Random): Publication {
  const one = <T>(...values: readonly T[]): T => values[pick(random, values.length)] as T
  // As a rule the same each time: another one begins the history of the price anew.
  const frequencies = [{}, { rent_frequency: 52, deposit: 1_500 }, { rent_frequency: 12 }]
  const usual = Number(agentRef.slice(-2)) % frequencies.length
  return {
    payload: {
      agent_ref: agentRef,
      published: true,
      reference: one('HC-1', 'Zoë’s № 5 🏡', undefined),
      branch_id: one('b1', `Caerdydd ${words}`, undefined),
      status: one(1, 2, 6, undefined),
      property_type: one(4, 28, undefined),
      new_home: one(true, false, undefined),
      update_date: one('31-01-2026', undefined),
      date_available: one('01-03-2026', undefined),
      principal: { principal_name: 'Jane Example' },
      address: {
        house_name_number: one('12', 'Rose Cottage', `Tŷ Gwyn ${words}`, ''),
        address_2: one('Mill Lane', `Heol y Dŵr ${words}`),
        display_address: one(undefined, words),
        town: one('Ely', 'Llanfairpwllgwyngyll \u202e\u0007', words),
        postcode_1: 'cb7',
        postcode_2: one('4aa', ''),
        latitude: one(51.12345678901234, 0, undefined),
        longitude: one(-0.2, 0, undefined),
      },
      price_information: {
        price: one(450_000, 1_234.56, 99_000, 0),
        ...one<object>({ price_qualifier: 10 }, { price_qualifier: 1 }, {}),
        ...frequencies[random() < 0.1 ? pick(random, frequencies.length) : usual],
        tenure_type: one(1, undefined),
      },
      details: {
        bedrooms: one(3, 0, undefined),
        summary: one('A house.', '<b>Quiet</b> & calm', words, ''),
        description: one('<p onclick="x()">By the mill.</p>', `${words} `.repeat(900), ''),
        features: one(['Garden', words], [], undefined),
        council_tax_band: one('A', undefined),
        furnished_type: one(0, undefined),
        obligations: one<object>([], {}),
      },
      media: Array.from({ length: one(0, 1, 7) }, (_, index) => ({
        media_type: one(1, 1, 2, 3, 6),
        media_url: `https://photos.example/${index}-${pick(random, 1_000)}${one('', "'s", ' tŷ “1”|{2}')}.jpg`,
        caption: one('Front', words, undefined),
        sort_order: pick(random, 9),
      })),
    },
  }
}

const change = (agentRef: string, random: Random): Publication =>
  random() < 0.2 ? { remove: { agentRef, reason: random() < 0.5 ? 9 : words } } : shown(agentRef, random)

for (const place of [sqlite(), mariadb()]) {
  const skip = place.missing === undefined ? false : `not tried: ${place.missing}`
  describe(`PropertyTables.php in ${place.name}`, { skip }, () => casesOf(place))
}

function casesOf(place: Place): void {
  let service: TestService
  const file = join(folder, `${place.name}-of-sync.db`)
  const random = randomOf(place.name.length)
  const publish = (...events: readonly Publication[]) =>
    createClient({ baseUrl: service.url, key: service.tenant.publishKey }).publish(events)
  before(async () => {
    service = await startTestService()
    await place.open()
  })
  after(async () => {
    await place.close()
    await service.stop()
  })

  const settings = () => ({
    ...process.env,
    ...place.environment,
    PROPERTY_EVENTS_URL: service.url,
    PROPERTY_EVENTS_KEY: service.tenant.readKey,
  })

  /** Runs the program once. `failure`: what it wrote when it did not end well. */
  async function php(environment: object = {}, ...flags: readonly string[]): Promise<string | undefined> {
    const env = { ...settings(), ...environment }
    return new Promise((resolve) =>
      execFile('php', [program, place.target, ...flags], { env }, (error, stdout, stderr) =>
        resolve(error === null ? undefined : stdout + stderr),
      ),
    )
  }

  async function syncToo(): Promise<void> {
    const tables = await openTables({ kind: 'sqlite', file }, { prefix: '', schema: undefined })
    const unexpected = () => assert.fail('nothing is left out')
    const keeper = keepTables({
      tables,
      tenant: 'main',
      category: undefined,
      onReadAgain: unexpected,
      onSkipped: unexpected,
    })
    await createClient({ baseUrl: service.url, key: service.tenant.readKey }).sync({
      checkpoint: keeper.checkpoint,
      copy: keeper.copy,
      allowMassRemoval: true,
      apply: (batch) => keeper.apply(batch),
    })
    await tables.close()
  }

  it('has, column by column, what `sync` has: names, prices and what they were, media, what went', async () => {
    await publish(...refs.map((ref) => shown(ref, random)))
    for (let round = 0; round < (isLong ? 20 : 3); round += 1) {
      await publish(...refs.filter(() => random() < 0.5).map((ref) => change(ref, random)))
      assert.equal(await php({}, '--allow-mass-removal'), undefined)
      await syncToo()
      assertSame(place, file)
    }
    const [listings = [], media = [], removed = []] = rowsOfPhp(place)
    assert.ok(listings.length > 10 && media.length > 10 && removed.length > 0)
    assert.ok(listings.some((row) => row['previous_price'] !== null))
    assert.doesNotMatch(JSON.stringify(listings), /Jane Example/)
    assert.ok(listings.every((row) => !String(row['description_html']).includes('onclick')))
  })

  it('has it after kill -9 too, with rows and checkpoint in one transaction', async () => {
    let killed = 0
    for (let stop = 0; stop < (isLong ? 40 : 3); stop += 1) {
      await publish(...refs.filter(() => random() < 0.7).map((ref) => change(ref, random)))
      const child = spawn('php', [program, place.target, '--allow-mass-removal'], {
        env: settings(),
        stdio: 'ignore',
      })
      const ended = new Promise<NodeJS.Signals | null>((resolve) =>
        child.once('exit', (_, signal) => resolve(signal)),
      )
      const timer = setTimeout(() => child.kill('SIGKILL'), 30 + random() * 150)
      if ((await ended) === 'SIGKILL') killed += 1
      clearTimeout(timer)
      assert.equal(await php({}, '--allow-mass-removal'), undefined)
      await syncToo()
      assertSame(place, file)
    }
    assert.ok(killed > 0, 'no run was killed before its end')
  })

  it('reads the whole feed again in the same tables, and takes away what the feed has not', async () => {
    const before = rowsOfPhp(place)[0]?.length ?? 0
    const stray = `
      $pdo = new PDO($argv[1], getenv('DB_USER') ?: null);
      $row = $pdo->query('SELECT * FROM listings LIMIT 1')->fetch(PDO::FETCH_ASSOC);
      $row['reference'] = 'stray';
      $marks = implode(', ', array_fill(0, count($row), '?'));
      $pdo->prepare("INSERT INTO listings VALUES ($marks)")->execute(array_values($row));`
    const { stderr, stdout } = spawnSync('php', ['-r', stray, place.target], {
      env: settings(),
      encoding: 'utf8',
    })
    assert.equal(stdout + stderr, '')
    await service.storage.startEpoch(1_000_000, 'cli:test')
    assert.equal(await php(), undefined)
    const [listings = [], , removed = []] = rowsOfPhp(place)
    assert.equal(listings.length, before)
    assert.ok(listings.every(({ is_stale: stale }) => stale === 0))
    assert.ok(removed.some(({ reference, reason }) => reference === 'stray' && reason === null))
  })

  it('stops before it takes too much away, and where another sync writes meanwhile', async () => {
    await publish(...refs.map((ref) => shown(ref, random)))
    assert.equal(await php(), undefined)
    await publish(...refs.slice(0, 25).map((agentRef): Publication => ({ remove: { agentRef } })))
    assert.match((await php()) ?? '', /^Stopped: with these 25, 25 of 40 in the copy.*--allow-mass-removal/s)
    assert.equal(rowsOfPhp(place)[0]?.length, 40)
    const between = `
      require '${join(import.meta.dirname, 'php/PropertyTables.php')}';
      $connect = fn () => new PropertyTables(new PDO($argv[1], getenv('DB_USER') ?: null));
      [$one, $other] = [$connect(), $connect()];
      $one->checkpoint();
      $other->apply([], $other->checkpoint(), ['startsOver' => false, 'complete' => false]);
      try { $one->apply([], '{}', ['startsOver' => true, 'complete' => true]); } catch (RuntimeException $stopped) { echo $stopped->getMessage(); }`
    const { stdout } = spawnSync('php', ['-r', between, place.target], { env: settings(), encoding: 'utf8' })
    assert.match(stdout, /^Another sync has written to these tables meanwhile/)
    assert.equal(await php({}, '--allow-mass-removal'), undefined)
    assert.equal(rowsOfPhp(place)[0]?.length, 15)
  })

  it('writes all other homes where the database refuses one, and says which and why', async () => {
    const refuse = `
      $pdo = new PDO($argv[1], getenv('DB_USER') ?: null);
      $sqlite = "BEGIN SELECT RAISE(ABORT, 'nid yw’n ei dderbyn'); END";
      $mysql = "BEGIN IF NEW.caption = 'not taken' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nid yw’n ei dderbyn'; END IF; END";
      $isSqlite = str_starts_with($argv[1], 'sqlite');
      $pdo->exec('CREATE TRIGGER not_taken BEFORE INSERT ON listing_media FOR EACH ROW ' . ($isSqlite ? "WHEN NEW.caption = 'not taken' $sqlite" : $mysql));`
    const made = spawnSync('php', ['-r', refuse, place.target], { env: settings(), encoding: 'utf8' })
    assert.equal(made.stdout + made.stderr, '')
    const before = rowsOfPhp(place)[0]?.find(({ reference }) => reference === refs[30])
    assert.ok(before !== undefined)
    const media = [{ media_type: 1, media_url: 'https://photos.example/no.jpg', caption: 'not taken' }]
    const refused = [refs[0] ?? '', refs[30] ?? '']
    const all = [...refs.slice(0, 12), ...refused].map((agentRef): Publication => {
      const { payload } = shown(agentRef, random) as { readonly payload: PropertyPayload }
      return { payload: refused.includes(agentRef) ? { ...payload, media } : payload }
    })
    await publish(...all)
    const stderr = await new Promise<string>((resolve, reject) =>
      execFile('php', [program, place.target], { env: settings() }, (error, _, written) =>
        error === null ? resolve(written) : reject(error),
      ),
    )
    assert.equal(rowsOfPhp(place)[0]?.length, 26)
    for (const reference of refused) {
      assert.ok(stderr.includes(`${reference} is left as it is. The database refused it: `), stderr)
    }
    assert.match(stderr, /nid yw’n ei dderbyn/)
    const after = rowsOfPhp(place)[0]?.find(({ reference }) => reference === refs[30])
    assert.deepEqual(after, before)
    // Nor does a read of the whole feed take it away; and once the database takes it, it is written.
    await service.storage.startEpoch(2_000_000, 'cli:test')
    assert.equal(await php(), undefined)
    assert.deepEqual(rowsOfPhp(place)[0]?.length, 26)
    const drop = `(new PDO($argv[1], getenv('DB_USER') ?: null))->exec('DROP TRIGGER not_taken');`
    spawnSync('php', ['-r', drop, place.target], { env: settings() })
    await service.storage.startEpoch(3_000_000, 'cli:test')
    assert.equal(await php(), undefined)
    assert.deepEqual(rowsOfPhp(place)[0]?.length, 27)
  })

  it('says what to do, and changes no table of others', async () => {
    const make = `$pdo = new PDO($argv[1], getenv('DB_USER') ?: null); $pdo->exec('CREATE TABLE shop_listings (id INTEGER)');`
    spawnSync('php', ['-r', make, place.target], { env: settings() })
    assert.match(
      (await php({ TABLE_PREFIX: 'shop_' })) ?? '',
      /^The database has a table shop_listings that PropertyTables did not make/,
    )
    assert.equal(await php({ TABLE_PREFIX: 'feed_' }), undefined)
    assert.match((await php({ TABLE_PREFIX: 'a b' })) ?? '', /^The prefix "a b" must be/)
    assert.match((await php({}, '--allow')) ?? '', /^Usage: php copy-to-tables\.php/)
  })
}

describe('PropertyTables.php', () => {
  it('goes through, and ends with a sentence, where this PHP has no driver', () => {
    const { status, stderr } = spawnSync('php', ['-n', program, 'mysql:host=localhost'], { encoding: 'utf8' })
    if (status === null) return
    assert.match(stderr, /^This PHP has no PDO driver for mysql\. On Debian: apt-get install php-mysql\n$/)
    assert.ok(readFileSync(program, 'utf8').startsWith('<?php'))
  })
})
