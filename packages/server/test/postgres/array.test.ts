/** Lists sent in binary are the lists the database has: whatever their values, how many, and which are null. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  array,
  assert as assertProperty,
  asyncProperty,
  bigInt,
  boolean,
  integer,
  option,
  record,
  string,
  uuid,
} from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { bigints, booleans, integers, smallints, texts, uuids } from '../../src/sql/postgres/array.ts'
import { withClient } from './support/standby.ts'
import { sharedDatabases } from './test-databases.ts'

const listOf = <T>(values: Arbitrary<T>) => array(option(values), { maxLength: 200 })

const lists = record({
  uuids: listOf(uuid()),
  bigints: listOf(bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  integers: listOf(integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  smallints: listOf(integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })),
  booleans: listOf(boolean()),
  // PostgreSQL has no text with a NUL, and a payload with one is refused before.
  texts: listOf(string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))),
})

describe('lists of values for PostgreSQL', () => {
  it('arrive as they were sent, of every type, empty ones and nulls included', async () => {
    const url = await (await sharedDatabases()).create()
    await withClient(url, async (client) => {
      const assertArrives = async (
        type: string,
        list: Buffer,
        values: readonly (string | number | bigint | boolean | null)[],
      ): Promise<void> => {
        const text = `SELECT array_to_json($1::${type}[]::text[]) AS arrived`
        const { rows } = await client.query<{ arrived: unknown }>(text, [list])
        const sent = values.map((value) => (value === null ? null : String(value)))
        assert.deepEqual(rows[0]?.arrived, sent, type)
      }
      const property = asyncProperty(lists, async (sent) => {
        await assertArrives('uuid', uuids(sent.uuids), sent.uuids)
        await assertArrives('bigint', bigints(sent.bigints), sent.bigints)
        await assertArrives('integer', integers(sent.integers), sent.integers)
        await assertArrives('smallint', smallints(sent.smallints), sent.smallints)
        await assertArrives('boolean', booleans(sent.booleans), sent.booleans)
        await assertArrives('text', texts(sent.texts), sent.texts)
      })
      await assertProperty(property, { numRuns: 100 })
    })
  })

  it('hold no invented id: text that is not a UUID is refused', () => {
    for (const text of [
      '',
      'x',
      '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e6',
      '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e6g',
    ]) {
      assert.throws(() => uuids([text]), /is not a UUID/)
    }
  })

  it('are refused if the statement declares another type, and not misread', async () => {
    const url = await (await sharedDatabases()).create()
    await withClient(url, async (client) => {
      await assert.rejects(client.query('SELECT $1::integer[]', [bigints([1])]), /element type/)
    })
  })
})
