/** `sync sqlite:FILE` and `sync postgres://…`: what a website finds in its tables. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Checkpoint } from '@property-events/client'
import Database from 'better-sqlite3'
import { main } from '../../cli/src/main.ts'
import { removeFolder, run, runJson, runUntil, temporaryFolder } from '../../cli/test/support/program.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { until } from '../../server/test/support/until.ts'
import { openTables, readTableTarget } from '../src/open-tables.ts'
import { openPlace, tableEngines, tablesIn } from './support/places.ts'
import type { Row, TableEngine, TablePlace } from './support/places.ts'
import { syncHere } from './support/sync-here.ts'

interface Summary {
  readonly events: number
  readonly changes: number
  readonly removals: number
  readonly held: number
}

let service: TestService
let environment: Readonly<Record<string, string>>
const folder = temporaryFolder()
before(async () => {
  service = await startTestService()
  environment = { PROPERTY_EVENTS_URL: service.url, PROPERTY_EVENTS_KEY: service.tenant.readKey }
})
after(async () => {
  await service.stop()
  removeFolder(folder)
})

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`

async function call(path: string, body: unknown, key = service.tenant.publishKey): Promise<void> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(response.status < 300, await response.text())
}

const publish = (events: readonly object[], key?: string) => call('/v1/property-events', events, key)

const house = (index: number, price: number, more: object = {}) => ({
  payload: {
    agent_ref: refOf(index),
    published: true,
    status: 1,
    property_type: 4,
    address: {
      house_name_number: '12',
      address_2: 'Mill Lane',
      town: 'Wimbledon',
      postcode_1: 'sw19',
      postcode_2: '3ab',
      display_address: `${index} Mill Lane, Wimbledon`,
      latitude: 51.42,
      longitude: -0.21,
    },
    price_information: { price, price_qualifier: 10, tenure_type: 1 },
    details: {
      bedrooms: 3,
      summary: 'A house by the mill.',
      description: '<p onclick="x()">Quiet.</p><script>alert(1)</script>',
      features: ['Garden', 'Garage'],
      parking: [16],
    },
    media: [
      { media_type: 1, media_url: 'https://photos.example/2.jpg', sort_order: 2 },
      { media_type: 1, media_url: 'https://photos.example/1.jpg', sort_order: 1, caption: 'Front' },
      { media_type: 2, media_url: 'https://photos.example/plan.png' },
    ],
    ...more,
  },
})

const flat = (index: number, rent: number) => ({
  payload: {
    agent_ref: refOf(index),
    published: true,
    status: 6,
    property_type: 28,
    date_available: '01-03-2026',
    price_information: { price: rent, rent_frequency: 52, deposit: 1_500 },
    details: { bedrooms: 2, furnished_type: 0, summary: 'A flat.', description: 'Bright.' },
  },
})

function ofReference(rows: readonly Row[], index: number): Row {
  const row = rows.find(({ reference }) => reference === refOf(index))
  assert.ok(row !== undefined, `no row of ${index}`)
  return row
}

const pick = (row: Row, ...columns: readonly string[]) => columns.map((column) => row[column])

for (const engine of tableEngines) describe(`sync into tables of ${engine}`, () => casesOf(engine))

function casesOf(engine: TableEngine): void {
  let place: TablePlace
  const base = engine === 'sqlite' ? 0 : 5_000
  before(async () => {
    place = await openPlace(engine)
  })
  after(() => place.close())
  const sync = (options = {}) => syncHere(service, place, options)

  it('fills them with what a page shows, and keeps them so: names, prices as text, photographs in order, safe texts', async () => {
    await publish([house(base, 450_000), flat(base + 1, 300), house(base + 2, 250_000)])
    await publish([{ remove: { agentRef: refOf(base + 2), reason: 9 } }])
    const first = await runJson<Summary>(['sync', place.target], { environment })
    assert.equal(first.held, (await place.rows('SELECT reference FROM listings')).length)
    const { listings, media, removed } = await tablesIn(place)
    const home = ofReference(listings, base)
    assert.deepEqual(
      pick(home, 'tenant', 'category', 'status', 'type', 'price', 'price_text', 'price_qualifier', 'tenure'),
      [
        'main',
        'sales',
        'Available',
        'Detached house',
        450_000,
        'Offers over £450,000',
        'Offers over',
        'Freehold',
      ],
    )
    assert.deepEqual(
      pick(home, 'postcode', 'latitude', 'longitude', 'bedrooms', 'bathrooms', 'is_available'),
      ['SW19 3AB', 51.42, -0.21, 3, null, true],
    )
    assert.deepEqual(pick(home, 'description_html', 'description_text', 'features', 'parking'), [
      '<p>Quiet.</p>',
      'Quiet.',
      ['Garden', 'Garage'],
      ['Garage'],
    ])
    assert.deepEqual(pick(home, 'main_photograph', 'main_photograph_caption', 'photograph_count'), [
      'https://photos.example/1.jpg',
      'Front',
      2,
    ])
    const letting = ofReference(listings, base + 1)
    assert.deepEqual(
      pick(
        letting,
        'category',
        'status',
        'price_text',
        'rent_per_month',
        'deposit',
        'furnished',
        'available_on',
        'latitude',
        'is_available',
      ),
      ['lettings', 'Let Agreed', '£300 pw', 1_300, 1_500, 'Furnished', '2026-03-01', null, false],
    )
    assert.deepEqual(
      media
        .filter(({ reference }) => reference === refOf(base))
        .map((row) => pick(row, 'kind', 'position', 'url')),
      [
        ['floor_plan', 1, 'https://photos.example/plan.png'],
        ['photograph', 1, 'https://photos.example/1.jpg'],
        ['photograph', 2, 'https://photos.example/2.jpg'],
      ],
    )
    assert.deepEqual(pick(ofReference(removed, base + 2), 'reason_code', 'reason', 'is_erased'), [
      '9',
      'Withdrawn from Market',
      false,
    ])
    const shown = async (view: string) =>
      (await place.rows(`SELECT reference FROM ${view}`)).map(({ reference }) => reference)
    assert.ok(
      (await shown('for_sale')).includes(refOf(base)) && !(await shown('for_sale')).includes(refOf(base + 1)),
    )
    assert.ok(
      (await shown('to_let')).includes(refOf(base + 1)) && !(await shown('to_let')).includes(refOf(base)),
    )
    assert.equal((await sync()).changes, 0)
  })

  it('keeps what a price was, and forgets it where figures cannot be compared', async () => {
    const history = async () => {
      const { listings } = await tablesIn(place)
      return pick(ofReference(listings, base), 'price', 'first_price', 'previous_price', 'last_price')
    }
    assert.deepEqual(await history(), [450_000, 450_000, null, 450_000])
    await publish([house(base, 425_000)])
    await sync()
    assert.deepEqual(await history(), [425_000, 450_000, 450_000, 425_000])
    const changed = ofReference((await tablesIn(place)).listings, base)
    assert.equal(changed['price_changed_at'], changed['published_at'])
    // On application for a while, with the same price after it: nobody is told of a reduction.
    await publish([house(base, 425_000, { price_information: { price: 425_000, price_qualifier: 1 } })])
    await sync()
    assert.deepEqual(await history(), [null, 450_000, 450_000, 425_000])
    await publish([house(base, 425_000)])
    await sync()
    assert.deepEqual(await history(), [425_000, 450_000, 450_000, 425_000])
    await publish([house(base, 1_200, { price_information: { price: 1_200, rent_frequency: 12 } })])
    await sync()
    assert.deepEqual(await history(), [1_200, 1_200, null, 1_200])
  })

  it('takes photographs away that are no longer there, and a listing that went and comes back out of the removed ones', async () => {
    await publish([
      house(base, 1_200, { media: [{ media_type: 1, media_url: 'https://photos.example/9.jpg' }] }),
      house(base + 2, 250_000),
      { remove: { agentRef: refOf(base + 1) } },
    ])
    await sync()
    const { listings, media, removed } = await tablesIn(place)
    const urls = media.filter(({ reference }) => reference === refOf(base)).map(({ url }) => url)
    assert.deepEqual(urls, ['https://photos.example/9.jpg'])
    assert.ok(listings.some(({ reference }) => reference === refOf(base + 2)))
    assert.ok(!removed.some(({ reference }) => reference === refOf(base + 2)))
    assert.ok(!media.some(({ reference }) => reference === refOf(base + 1)))
    assert.ok(removed.some(({ reference }) => reference === refOf(base + 1)))
  })

  it('holds nothing of a listing that was erased but that it went', async () => {
    const canary = `canary-of-${engine}`
    // A website that has the file open: without one, the log would go when the sync closes the file.
    const website = engine === 'sqlite' ? new Database(place.file) : undefined
    website?.prepare('SELECT count(*) FROM listings').get()
    await publish([
      house(base + 3, 99_000, {
        details: { summary: canary, description: `${canary} ${canary}` },
        directions: canary,
      }),
    ])
    await sync()
    assert.ok(JSON.stringify(await tablesIn(place)).includes(canary))
    await call(
      '/v1/erasures',
      { feed: 'property', subjectId: refOf(base + 3), reason: 'data_subject_request' },
      service.tenant.eraseKey,
    )
    await sync()
    const tables = await tablesIn(place)
    assert.ok(!JSON.stringify(tables).includes(canary))
    assert.deepEqual(pick(ofReference(tables.removed, base + 3), 'reason', 'is_erased'), [null, true])
    if (engine === 'sqlite') {
      for (const file of [place.file, `${place.file}-wal`])
        assert.ok(!bytesOf(file).includes(canary), `${file} still has it`)
    }
    website?.close()
  })

  it('reads the whole feed again in the same tables: a page that asks meanwhile never finds them empty, and what the feed has not goes', async () => {
    await publish(Array.from({ length: 40 }, (_, index) => house(base + 100 + index, 100_000 + index)))
    const { held } = await sync()
    const stray = `INSERT INTO listings SELECT * FROM listings WHERE reference = '${refOf(base)}'`
    await place.run(strayRow(stray, refOf(base), 'stray'))
    await service.storage.startEpoch(1_000_000 * (base + 1), 'cli:test')
    let least = Infinity
    let asked = 0
    const over = new AbortController()
    const watching = (async () => {
      while (!over.signal.aborted) {
        const [row] = await place.rows('SELECT count(*) AS n FROM listings')
        least = Math.min(least, Number(row?.['n']))
        asked += 1
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const round = await sync()
    over.abort()
    await watching
    assert.deepEqual(round.readAgain, ['epoch_changed'])
    assert.ok(asked > 0 && least >= held, `${least} of ${held}, asked ${asked} times`)
    assert.equal(round.held, held)
    const { removed } = await tablesIn(place)
    assert.ok(removed.some(({ reference }) => reference === 'stray'))
  })

  it('stops before it takes a quarter of the listings away, says how to go on, and then goes on', async () => {
    const gone = Array.from({ length: 30 }, (_, index) => ({
      remove: { agentRef: refOf(base + 100 + index) },
    }))
    await publish(gone)
    const before = await tablesIn(place)
    const refused = await run(['sync', place.target], { environment })
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /with these 30, [\d,]+ of [\d,]+ listings would be gone within 24 h .*--allow-mass-removal/,
    )
    assert.deepEqual(await tablesIn(place), before)
    assert.equal((await sync({ allowMassRemoval: true })).removals, 30)
  })

  it('follows, with each change in the tables soon after it came, and lets no second sync write to them', async () => {
    const running = await runUntil(['sync', place.target, '--follow'], isFollowing(place), { environment })
    await publish([house(base + 900, 77_777)])
    const isThere = async () =>
      (await place.rows(`SELECT reference FROM listings WHERE reference = '${refOf(base + 900)}'`)).length ===
      1
    await until(isThere, { what: 'the new listing' })
    const second = await run(['sync', place.target], { environment })
    assert.equal(second.code, 1)
    assert.match(
      second.stderr,
      /Another sync is writing to these tables.*Wait until it has ended, stop it, or choose other tables with --prefix/,
    )
    // Others beside them are free.
    assert.ok((await sync({ prefix: 'second_' })).held > 0)
    const { code, stderr } = await running.stop()
    assert.equal(code, 0, stderr)
  })

  it('touches no table of others, and makes its own beside them by another name', async () => {
    await place.run('CREATE TABLE shop_listings (id integer); CREATE VIEW shop_for_sale AS SELECT 1 AS one')
    await assert.rejects(
      sync({ prefix: 'shop_' }),
      /"shop_(listings|for_sale)", which sync did not create.*--prefix/,
    )
    assert.equal((await place.rows('SELECT * FROM shop_listings')).length, 0)
    const { held } = await sync({ prefix: 'feed_' })
    assert.equal((await tablesIn(place, 'feed_')).listings.length, held)
  })

  it('refuses tables of another version, and such as are no longer whole', async () => {
    await sync({ prefix: 'newer_' })
    await place.run('UPDATE newer_listing_version SET version = 99')
    await assert.rejects(sync({ prefix: 'newer_' }), /version 99, and this property-events knows version 1/)
    await place.run('UPDATE newer_listing_version SET version = 1; DROP TABLE newer_listing_media')
    await assert.rejects(sync({ prefix: 'newer_' }), /"newer_listing_media" is gone/)
  })

  it('reads the whole feed when nothing is left of the listings, or when an older version wrote them', async () => {
    const { held } = await sync({ prefix: 'feed_' })
    await place.run('DELETE FROM feed_listings')
    const emptied = await sync({ prefix: 'feed_' })
    assert.deepEqual([emptied.held, emptied.readAgain], [held, ['nothing is left of the listings']])
    await place.run("UPDATE feed_listing_sync SET rows_version = 0; UPDATE feed_listings SET status = 'old'")
    const older = await sync({ prefix: 'feed_' })
    assert.deepEqual([older.held, older.readAgain], [held, ['this version shows listings differently']])
    const { listings } = await tablesIn(place, 'feed_')
    assert.ok(listings.every(({ status }) => status !== 'old'))
  })

  it('stops when another process has written meanwhile, and leaves what that one wrote', async () => {
    const target = readTableTarget(place.target)
    assert.ok(target !== undefined)
    const tables = await openTables(target, { prefix: '', schema: undefined })
    const state = await tables.load('main')
    await place.run('UPDATE listing_sync SET writes = writes + 1')
    const before = await tablesIn(place)
    const checkpoint = state?.checkpoint as Checkpoint
    const removed = before.listings.map(({ reference }) => ({
      tenant: 'main',
      reference: reference as string,
      removed_at: '2026-01-31T00:00:00.000Z',
      reason_code: null,
      reason: null,
      is_erased: false,
    }))
    const batch = { tenant: 'main', listings: [], media: [], removed, checkpoint, rowsVersion: 1, nowMs: 0 }
    await assert.rejects(tables.write(batch), /Another sync has written the listings of "main"/)
    await tables.close()
    assert.deepEqual(await tablesIn(place), before)
  })

  it('keeps many tenants apart in the same tables, and goes on for the others when one cannot be read', async () => {
    const keys = join(folder, `${engine}-keys`)
    await publish([house(base, 1)], service.otherTenant.publishKey)
    writeFileSync(
      keys,
      `# two that work\nfirst ${service.tenant.readKey}\nsecond ${service.otherTenant.readKey}\nrevoked pev_nobody_x\n`,
      { mode: 0o600 },
    )
    const manyArgs = ['sync', place.target, '--prefix', 'all_', '--keys', keys]
    const address = { environment: { PROPERTY_EVENTS_URL: service.url } }
    const { code, stdout, stderr } = await run([...manyArgs, '--json'], address)
    assert.equal(code, 1)
    assert.match(stderr, /^revoked: .*(not a whole key|unauthorized|401)/m)
    assert.doesNotMatch(stderr, /Others can read/)
    const { tenants, failed } = JSON.parse(stdout) as {
      failed: number
      tenants: readonly { tenant: string; held: number; lagMs: number | null }[]
    }
    assert.equal(failed, 1)
    assert.deepEqual(
      tenants.map(({ tenant }) => tenant),
      ['first', 'second', 'revoked'],
    )
    const { listings } = await tablesIn(place, 'all_')
    for (const { tenant, held, lagMs } of tenants.slice(0, 2)) {
      assert.ok(held > 0 && lagMs !== null)
      assert.equal(listings.filter((row) => row['tenant'] === tenant).length, held)
    }
    // A first copy removes nothing, although the feed has removals.
    const freshArgs = manyArgs.map((word) => (word === 'all_' ? 'fresh_' : word))
    const fresh = await run([...freshArgs, '--tenant', 'first'], address)
    assert.match(fresh.stdout, /^first +\d+ +\d+ +\d+ +0 +\d+ s$/m)
    // The same reference in both: one changes, the other stays.
    await publish([house(base, 2)], service.otherTenant.publishKey)
    const second = await run([...manyArgs, '--tenant', 'second'], address)
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stdout, /^second +\d+ +1 +1 +0 +0 s$/m)
    const prices = (await tablesIn(place, 'all_')).listings.filter(
      ({ reference }) => reference === refOf(base),
    )
    assert.deepEqual(
      prices.map((row) => pick(row, 'tenant', 'price')),
      [
        ['first', 1_200],
        ['second', 2],
      ],
    )
  })
}

/** A row that no feed has, as after a restore of the service. */
function strayRow(copyStatement: string, from: string, to: string): string {
  return `CREATE TEMPORARY TABLE stray AS SELECT * FROM listings WHERE reference = '${from}';
    UPDATE stray SET reference = '${to}';
    ${copyStatement.replace(/SELECT .*/, 'SELECT * FROM stray')};
    DROP TABLE stray;`
}

/** Until the sync that was started has the tables and is in step. */
async function isFollowing(place: TablePlace): Promise<void> {
  const startedMs = Date.now()
  const isInStep = async () => {
    const [row] = await place.rows('SELECT caught_up_at FROM listing_sync')
    return Date.parse(row?.['caught_up_at'] as string) >= startedMs
  }
  await until(isInStep, { what: 'the first round' })
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

describe('sync to a target that is nearly one', () => {
  const mistakes: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [['sqlite:'], /After sqlite: comes the file/],
    [['sqlite:/nowhere/at/all/website.db'], /^\/nowhere\S* does not exist/],
    [['postgres://localhost/a b'], /looks like postgres:\/\/user@host/],
    [
      ['postgres://user:hunter2@127.0.0.1:1/website'],
      /^postgres:\/\/127\.0\.0\.1:1\/website cannot be used at the moment \(.*ECONNREFUSED/,
    ],
    [['website.db'], /sync sqlite:website\.db/],
    [['copy', '--prefix', 'x_'], /--prefix is for tables/],
    [['sqlite:x.db', '--prefix', 'Feed-'], /--prefix is "Feed-", but must be 1 to 30 lower-case letters/],
    [['sqlite:x.db', '--schema', 'public'], /--schema is for PostgreSQL/],
    [['sqlite:x.db', '--feed', 'contact'], /Contacts are people/],
    [['sqlite:x.db', '--tenant', 'Hill & Co'], /--tenant: a name is 1 to 63 letters/],
    [['sqlite:x.db', '--keys', 'keys', '--key', 'pev_x'], /--key or --keys, not both/],
    [['sqlite:x.db', '--keys', 'nowhere'], /nowhere.* does not exist/],
  ]
  it('is refused with a sentence that says what to write, and no password in it', async (context) => {
    let said = ''
    context.mock.method(process.stderr, 'write', (text: string) => (said += text) !== '')
    for (const [args, expected] of mistakes) {
      said = ''
      const { PROPERTY_EVENTS_URL = '' } = environment
      const given = args.includes('--keys') ? { PROPERTY_EVENTS_URL } : environment
      assert.equal(await main(['sync', ...args], given), 1, args.join(' '))
      assert.match(said, expected)
      assert.doesNotMatch(said, /hunter2|\n\s+at |unexpected/)
    }
  })

  it('refuses a file that is no database, and leaves it as it was', async () => {
    const file = join(folder, 'letter.txt')
    writeFileSync(file, 'Dear Sir or Madam, '.repeat(100))
    const { code, stderr } = await run(['sync', `sqlite:${file}`], { environment })
    assert.equal(code, 1)
    assert.match(stderr, /letter\.txt is not an SQLite database/)
    assert.equal(readFileSync(file, 'utf8').length, 1_900)
  })
})
