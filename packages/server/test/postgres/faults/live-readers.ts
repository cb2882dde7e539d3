/** Readers that wait, on streams and by long-polls, at whatever node: in the end each has been told the whole feed, in order. */
import assert from 'node:assert/strict'
import { byBareSocket, byNodeHttp } from '../../support/live-sessions.ts'
import { pollReader, streamReader } from '../../support/live-readers.ts'
import type { LogReader, ReaderOptions } from '../../support/live-readers.ts'
import { randomOf } from '../../support/random-requests.ts'
import { until } from '../../support/until.ts'
import type { FeedRecord } from './record.ts'
import type { ServedFeed } from './run-load.ts'
import type { ServiceNodes } from './service-nodes.ts'

export interface LiveReaders {
  /** What they were told is what was kept (L1); how often they had to come back. */
  finish(
    records: readonly FeedRecord[],
  ): Promise<{ readonly liveReaders: number; readonly connections: number }>
}

/** A node that says nothing for longer than it is to between two marks is left for another. */
const silentMs = 20_000

export function liveReaders(nodes: ServiceNodes, feeds: readonly ServedFeed[]): LiveReaders {
  const random = randomOf(Date.now())
  const port = (): number => {
    const node = nodes.all[random(nodes.all.length)] ?? assert.fail('there are no nodes')
    return Number(new URL(node.url()).port)
  }
  const readers = feeds.map(({ readKey: key }): readonly LogReader[] => {
    const options = (name: string): ReaderOptions => ({
      name,
      port,
      key,
      path: '/v1/property-events',
      random,
    })
    return [
      streamReader(options('stream'), byNodeHttp, { silentMs }),
      streamReader(options('stream that is cut'), byBareSocket, { cutBelow: 40_000, silentMs }),
      pollReader(options('long-poll')),
    ]
  })
  const all = readers.flat()
  return {
    async finish(records) {
      try {
        for (const [index, { kept }] of records.entries()) {
          const numbers = kept.map((item): number => {
            const { sequenceNumber }: { sequenceNumber: number } = JSON.parse(item)
            return sequenceNumber
          })
          for (const reader of readers[index] ?? []) {
            await until(() => reader.log.length >= numbers.length, {
              what: `the whole feed in the log of the ${reader.name}: ${reader.log.length} of ${numbers.length} events`,
              timeoutMs: 60_000,
            })
            assert.deepEqual(reader.log, numbers, reader.name)
            assert.deepEqual(reader.faults, [], reader.name)
          }
        }
      } finally {
        await Promise.all(all.map((reader) => reader.stop()))
      }
      return {
        liveReaders: all.length,
        connections: all.reduce((sum, { connections }) => sum + connections, 0),
      }
    },
  }
}
