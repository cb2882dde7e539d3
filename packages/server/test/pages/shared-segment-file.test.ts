/** What threads say to each other about the file they share, in orders that are rare: the ports driven by hand. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openSegmentFile } from '../../src/pages/segment-file.ts'
import type { SegmentId } from '../../src/pages/segment-id.ts'
import { sealSegment } from '../../src/pages/segment.ts'
import type { Segment } from '../../src/pages/segment.ts'
import { shareSegmentFile } from '../../src/pages/shared-segment-file.ts'
import type { SegmentFilePass } from '../../src/pages/shared-segment-file.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { until } from '../support/until.ts'

const tenantId = '10000000-0000-4000-8000-000000000000'
const idOf = (number: number): SegmentId => ({ series: `${tenantId}/property epoch/0 all`, number })

async function segmentOf(word: string): Promise<Segment> {
  const event = (number: number) =>
    `{"tenantId":"${tenantId}","sequenceNumber":${number},"payload":"${word}"}`
  const segment = await sealSegment(
    Buffer.from(Array.from({ length: 100 }, (_, n) => event(n + 1)).join(',')),
  )
  assert.ok(segment)
  return segment
}

/** A thread of which a test decides what it says, and when. */
function puppet({ port }: SegmentFilePass) {
  const heard: { readonly kind: string; readonly generation?: number }[] = []
  port.on('message', (message: { kind: string }) => void heard.push(message))
  return {
    port,
    say: (message: object) => port.postMessage(message),
    kinds: () => heard.map(({ kind }) => kind),
    hears: (kind: string) =>
      until(() => heard.some((message) => message.kind === kind), { what: kind, timeoutMs: 5_000 }),
  }
}

const untilEmpty = (path: string) =>
  until(() => statSync(path).size === 0, { what: 'an empty file', timeoutMs: 5_000 })

/** A file shared by two such threads. */
function shared(folder: string) {
  const path = join(folder, 'sealed')
  const file = shareSegmentFile(openSegmentFile(path, 2 ** 24), 2)
  const [one, two] = [puppet(file.pass()), puppet(file.pass())]
  /** What was said before has been heard: an answer to a thread comes after what that thread said. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return { path, one, two, settle, [Symbol.dispose]: () => file.close() }
}

describe('the file that threads share', () => {
  it('accepts no segment that was sealed before it was emptied (D17)', async () => {
    using folder = temporaryFolder()
    using threads = shared(folder.path)
    const { path, one, two, settle } = threads
    const [secret, plain] = [await segmentOf('a secret'), await segmentOf('what is left')]
    one.say({ kind: 'put', generation: 0, id: idOf(0), segment: secret })
    await two.hears('added')
    two.say({ kind: 'clear', generation: 0 })
    await one.hears('forget')
    for (const { say } of [one, two]) say({ kind: 'forgotten', generation: 1 })
    await untilEmpty(path)
    // Under way when it was emptied.
    one.say({ kind: 'put', generation: 0, id: idOf(1), segment: secret })
    one.say({ kind: 'put', generation: 1, id: idOf(2), segment: plain })
    await until(() => two.kinds().filter((kind) => kind === 'added').length === 2, {
      what: 'the second',
      timeoutMs: 5_000,
    })
    await settle()
    assert.equal(two.kinds().filter((kind) => kind === 'added').length, 2)
    const bytes = readFileSync(path)
    assert.deepEqual([bytes.includes('a secret'), bytes.includes('what is left')], [false, true])
  })

  it('is emptied once all threads have forgotten its contents, and accepts nothing before that (P9, D17)', async () => {
    using folder = temporaryFolder()
    using threads = shared(folder.path)
    const { path, one, two, settle } = threads
    const segment = await segmentOf('text')
    one.say({ kind: 'put', generation: 0, id: idOf(0), segment })
    await two.hears('added')
    const { size } = statSync(path)
    one.say({ kind: 'clear', generation: 0 })
    await two.hears('forget')
    one.say({ kind: 'forgotten', generation: 1 })
    // Said twice, and by one alone.
    one.say({ kind: 'forgotten', generation: 1 })
    one.say({ kind: 'put', generation: 1, id: idOf(1), segment })
    await settle()
    assert.equal(statSync(path).size, size, 'the other thread may still read by what it knows')
    assert.equal(one.kinds().filter((kind) => kind === 'added').length, 1)
    two.say({ kind: 'forgotten', generation: 1 })
    await untilEmpty(path)
  })

  it('waits for no thread that has ended (P9)', async () => {
    using folder = temporaryFolder()
    using threads = shared(folder.path)
    const { path, one, two } = threads
    one.say({ kind: 'put', generation: 0, id: idOf(0), segment: await segmentOf('text') })
    await two.hears('added')
    one.say({ kind: 'clear', generation: 0 })
    await two.hears('forget')
    one.say({ kind: 'forgotten', generation: 1 })
    two.port.close()
    await once(two.port, 'close')
    await untilEmpty(path)
  })
})
