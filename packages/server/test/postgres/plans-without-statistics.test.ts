/** What reads cost of a database that was filled a moment ago: PostgreSQL has no statistics of it yet, and takes every table for small (P5). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { bigints, texts } from '../../src/sql/postgres/array.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import type { Database } from '../../src/sql/postgres/connection.ts'
import type { Statement, Value } from '../../src/sql/postgres/session.ts'
import { countStatements } from '../../src/events/postgres/read/counts.ts'
import { dueStatements } from '../../src/store/postgres/reduce/retention.ts'
import { liveSubjectsStatement } from '../../src/events/postgres/read/live-subjects.ts'
import { locateStatements } from '../../src/events/postgres/read/locate.ts'
import { latestPositionStatements } from '../../src/events/postgres/read/positions.ts'
import { readAfterStatements } from '../../src/events/postgres/read/read-after.ts'
import {
  measureStatements,
  readRangeStatements,
  readWithinStatements,
} from '../../src/events/postgres/read/read-range.ts'
import { readSubjectStatements } from '../../src/events/postgres/read/read-event.ts'
import { turns } from '../../src/events/listings.ts'
import { readNext } from '../../src/privacy/contact-expiry/store.ts'
import { statementOf } from '../../src/sql/postgres.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { tenantA, uuid } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { sharedDatabases } from './test-databases.ts'

const events = 20_000
const limit = 100
/** Of an index and of rows for each event that is read. */
const pagesPerEvent = 12

type PlanRow = { 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }

const [property, contact] = [1, 2]
const set = '0123456789abcdef'
const middle = events / 2
/** Times are positions here. */
const hundredTimes = bigints(Array.from({ length: 100 }, (_, n) => n * 190))
const [least, most, half] = ['0', 'f', '7'].map((digit) =>
  'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replaceAll('x', digit),
)
const reads: readonly (readonly [string, Statement, readonly Value[]])[] = [
  ['a run', readAfterStatements.all, [tenantA, property, middle, limit]],
  ['a run of a view', readAfterStatements.view, [tenantA, property, middle, limit, 'sales']],
  ['a snapshot of contacts', readAfterStatements.latest, [tenantA, contact, middle, limit, texts([])]],
  [
    'a snapshot of properties',
    readAfterStatements.latest,
    [tenantA, property, middle, limit, texts(['sales', 'lettings'])],
  ],
  [
    'a snapshot of a view',
    readAfterStatements.latest,
    [tenantA, property, middle, limit, texts(['lettings'])],
  ],
  [
    'the latest contacts as of a position',
    latestPositionStatements.latest,
    [tenantA, contact, middle, limit, texts([]), events],
  ],
  [
    'what contacts were earlier',
    latestPositionStatements.earlier,
    [tenantA, contact, middle, limit, texts([]), events, null],
  ],
  [
    'a run of a view of branches',
    readAfterStatements.view,
    [tenantA, property, middle, limit, `branches.${set}.all`],
  ],
  [
    'a snapshot of branches',
    readAfterStatements.branchLatest,
    [tenantA, property, middle, limit, texts(['sales', 'lettings']), set],
  ],
  [
    'the latest of branches as of a position',
    latestPositionStatements.branchLatest,
    [tenantA, property, middle, limit, texts(['sales', 'lettings']), events, set],
  ],
  [
    'what properties of branches were earlier',
    latestPositionStatements.earlier,
    [tenantA, property, middle, limit, texts(['sales', 'lettings']), events, set],
  ],
  [
    'a window of a view of branches',
    locateStatements.branchView,
    [tenantA, property, `branches.${set}.all`, middle, events - 10, set],
  ],
  [
    'what a feed shows now',
    liveSubjectsStatement,
    [tenantA, property, half ?? '', most ?? '', null, 'PropertyUnpublished', null, limit, null],
  ],
  [
    'what a feed shows of branches now',
    liveSubjectsStatement,
    [tenantA, property, least ?? '', most ?? '', half ?? '', 'PropertyUnpublished', 'sales', limit, set],
  ],
  ['the newest contacts', countStatements.newest, [tenantA, contact, middle, limit, texts([])]],
  [
    'the newest properties',
    countStatements.newest,
    [tenantA, property, middle, limit, texts(['sales', 'lettings'])],
  ],
  ['counts before 100 times', countStatements.tallyAll, [tenantA, property, hundredTimes]],
  [
    'counts of a view before 100 times',
    countStatements.tallyView,
    [tenantA, property, hundredTimes, 'sales'],
  ],
  ['a page', readRangeStatements.all, [tenantA, property, middle + 1, middle + limit]],
  [
    'a page of a view',
    readRangeStatements.view,
    [tenantA, property, middle / 2, middle / 2 + limit, 'sales'],
  ],
  [
    'a short page of a view',
    readWithinStatements.view,
    [tenantA, property, middle / 2, middle / 2 + limit, 'sales', 1e6],
  ],
  [
    'the length of a page of a view',
    measureStatements.view,
    [tenantA, property, middle / 2, middle / 2 + limit, 'sales'],
  ],
  [
    'publications and removals',
    statementOf(turns({ tenantId: tenantA, after: 0, before: 0, limit })),
    [tenantA, middle, events, limit],
  ],
  ['a history', readSubjectStatements.history, [tenantA, property, uuid('p'), middle, limit]],
  ['the latest of one', readSubjectStatements.latest, [tenantA, property, uuid('p')]],
  [
    'the latest of one up to a number',
    readSubjectStatements.latestWithin,
    [tenantA, property, uuid('p'), middle, null],
  ],
  [
    'a step of retention by age',
    dueStatements.aged,
    [tenantA, property, middle, middle + limit, events, null],
  ],
  [
    'a step of retention by what came since',
    dueStatements.superseded,
    [tenantA, property, middle, middle + limit, events, null],
  ],
  ['a step of the list of those that expire', statementOf(readNext()), [tenantA, events + 1, limit]],
]

/** What a step writes: each event, its entries in three indexes, its id, and what is kept of it. */
const pagesPerChange = 40
const positionsAfter = (after: number): readonly bigint[] =>
  Array.from({ length: limit }, (_, index) => BigInt(after + 1 + index))
const emptied = texts(Array.from({ length: limit }, () => '{}'))
const steps: readonly (readonly [string, string, (after: number) => readonly Value[]])[] = [
  [
    'a step of an erasure',
    `SELECT take_payloads($1, $2, $3::bigint[], ARRAY(SELECT id FROM event WHERE position = ANY ($3) AND tenant = $1 AND feed = $2), $4::text[])`,
    (after) => [tenantA, property, bigints(positionsAfter(after)), emptied],
  ],
  [
    'a step of retention',
    `SELECT thin_payloads($1, $2, $3::bigint[], ARRAY(SELECT id FROM event WHERE position = ANY ($3) AND tenant = $1 AND feed = $2), $4::text[])`,
    (after) => [tenantA, property, bigints(positionsAfter(after + 2 * limit)), emptied],
  ],
  [
    'a step of a restriction',
    'SELECT hide_events($1, $2, $3::bigint[], $4::text[])',
    (after) => [tenantA, contact, bigints(positionsAfter(after)), emptied],
  ],
  [
    'a step of lifting one',
    'SELECT show_events($1, $2, $4::uuid, $3::bigint[])',
    (after) => [tenantA, contact, bigints(positionsAfter(after)), uuid('p')],
  ],
  [
    'a step of taking over what was thinned',
    'SELECT drop_kept($1, $2, $3::bigint[])',
    (after) => [tenantA, contact, bigints(positionsAfter(after))],
  ],
]

describe('a database that was filled a moment ago', () => {
  let database: Database
  before(async () => {
    const url = await (await sharedDatabases()).create()
    const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await (await withTenants(await openStorage({ ...given, catalogue: catalogues.default }))).close()
    database = connect({ url, readConnections: 1 })
    const category = `CASE n % 2 WHEN 0 THEN 'sales' ELSE 'lettings' END`
    await database.write((session) =>
      session.script(`ALTER TABLE event SET (autovacuum_enabled = false);
        ALTER TABLE subject SET (autovacuum_enabled = false);
        ALTER TABLE view_entry SET (autovacuum_enabled = false);
        ALTER TABLE event_id SET (autovacuum_enabled = false);
        ALTER TABLE kept_event SET (autovacuum_enabled = false);
        ALTER TABLE feed SET (autovacuum_enabled = false);
        ALTER TABLE branch_latest SET (autovacuum_enabled = false);
        ALTER TABLE branch_set SET (autovacuum_enabled = false);
        ALTER TABLE branch_of_set SET (autovacuum_enabled = false);
        ALTER TABLE view SET (autovacuum_enabled = false);
        INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
          SELECT '${tenantA}', feed, n, n, n, gen_random_uuid(),
            CASE WHEN n % 100 = 0 THEN '${uuid('p')}' ELSE gen_random_uuid() END,
            CASE feed WHEN 1 THEN ${category} END, CASE feed WHEN 1 THEN 'north' END, CASE feed WHEN 1 THEN 'PropertyPublished' ELSE '' END, '{"payload":"${'x'.repeat(200)}"}'
          FROM generate_series(1, 2) AS feed, generate_series(1, ${events}) AS n;
        INSERT INTO event_id (tenant, feed, id, position, content_hash) SELECT tenant, feed, id, position, '' FROM event;
        INSERT INTO subject (tenant, feed, subject, position, published, category, code, spelling)
          SELECT DISTINCT ON (tenant, feed, subject) tenant, feed, subject, position, true, category, '', ''
          FROM event ORDER BY tenant, feed, subject, position DESC;
        INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
          SELECT '${tenantA}', 1, ${category}, (n + 1) / 2, n, n FROM generate_series(1, ${events}) AS n;
        INSERT INTO branch_set VALUES ('${tenantA}', 1, '${set}', '["north"]', 'ready', ${events});
        INSERT INTO branch_of_set VALUES ('${tenantA}', 1, 'north', '${set}');
        INSERT INTO branch_set SELECT '${tenantA}', 1, 'set ' || n, '[]', 'ready', 0 FROM generate_series(1, 200) AS n;
        INSERT INTO branch_of_set SELECT '${tenantA}', 1, 'branch ' || n % 20, 'set ' || n FROM generate_series(1, 200) AS n;
        INSERT INTO branch_latest (tenant, feed, subject, branch_set, category, position)
          SELECT tenant, feed, subject, '${set}', category, position FROM subject WHERE feed = 1
          UNION ALL SELECT tenant, feed, subject, 'set ' || position % 200 + 1, category, position FROM subject WHERE feed = 1;
        INSERT INTO view (tenant, feed, view, filter, last_ordinal)
          SELECT '${tenantA}', 1, 'branches.' || branch_set || part, '', 0 FROM branch_set, unnest('{.all,.sales,.lettings}'::text[]) AS part;
        UPDATE view SET last_ordinal = ${events} WHERE view = 'branches.${set}.all';
        INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
          SELECT '${tenantA}', 1, 'branches.${set}.all', n, n, n FROM generate_series(1, ${events}) AS n;
        UPDATE feed SET last_position = ${events}, last_sequence = ${events}, last_created = ${events} WHERE tenant = '${tenantA}'`),
    )
  })
  after(() => database.close())

  for (const [name, statement, values] of reads) {
    it(`is read for ${name} by going to its place and no further (P5)`, async () => {
      const [{ Plan }] = await database.write(async (session) => {
        const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`
        const explain = { name: `explain-${statement.name}`, text }
        // Once to warm up: the first reading also counts what planning reads of the catalogue.
        await session.query<PlanRow>(explain, values)
        const [row] = await session.query<PlanRow>(explain, values)
        return row?.['QUERY PLAN'] ?? assert.fail('no plan')
      })
      const pages = (Plan['Shared Hit Blocks'] ?? Infinity) + (Plan['Shared Read Blocks'] ?? 0)
      assert.ok(pages < limit * pagesPerEvent, `${pages} pages for ${limit} events: ${JSON.stringify(Plan)}`)
    })
  }

  for (const [name, text, values] of steps) {
    it(`is changed by ${name} at its place and no further (P5)`, async () => {
      const pages: number[] = []
      // The first step also counts what planning reads of the catalogue.
      for (const after of [middle, middle + limit]) {
        const statement = {
          name: `explain-step-${name}`,
          text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        }
        const [row] = await database.write((session) => session.query<PlanRow>(statement, values(after)))
        const [{ Plan }] = row?.['QUERY PLAN'] ?? assert.fail('no plan')
        pages.push((Plan['Shared Hit Blocks'] ?? Infinity) + (Plan['Shared Read Blocks'] ?? 0))
      }
      const [, last = Infinity] = pages
      assert.ok(last < limit * pagesPerChange, `${last} pages for ${limit} events`)
    })
  }

  it('is entered in views of branches at a cost of what there is to enter (P5)', async () => {
    const pages = await database.write(async (session) => {
      await session.script(`BEGIN; DELETE FROM view_entry WHERE view = 'branches.${set}.all' AND position > ${middle};
        UPDATE view SET last_ordinal = ${middle} WHERE view = 'branches.${set}.all'`)
      const found: number[] = []
      // By an append, and by a step of filling; first to warm up, because the first also counts what planning reads of the catalogue.
      for (const [nth, only] of ['NULL', `'${set}'`, 'NULL', `'${set}'`].entries()) {
        const from = middle + nth * limit
        const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
          SELECT enter_branch_views('${tenantA}', 1::smallint, ${from}, ${from + limit}, ${only})`
        const [row] = await session.query<PlanRow>({ name: `explain-enter-${nth}`, text }, [])
        const [{ Plan }] = row?.['QUERY PLAN'] ?? assert.fail('no plan')
        found.push((Plan['Shared Hit Blocks'] ?? Infinity) + (Plan['Shared Read Blocks'] ?? 0))
      }
      await session.script('ROLLBACK')
      return found.slice(2)
    })
    // Some 60 for each: two entries and a place of its property's latest with their indexes, and what says which sets it is in.
    for (const count of pages) assert.ok(count < limit * 100, `${count} pages for ${limit} events`)
  })
})
