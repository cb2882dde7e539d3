/** What keys read and publish that are limited to branches, on every route, beside the fold of the feed filtered by branch (D11). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { feeds } from '@property-events/protocol'
import { moveBranch } from '../../src/index.ts'
import { branchKey } from '../support/branch-key.ts'
import { FeedModel } from '../support/branch-model.ts'
import { checkEveryRead, readParts } from '../support/branch-reads.ts'
import type { BranchReader, SeenPart } from '../support/branch-reads.ts'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { randomOf } from '../support/random-requests.ts'
import { until } from '../support/until.ts'

const seed = Number(process.env['PROPERTY_EVENTS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const rounds = isLongRun ? 20 : 1
/** Of those that read all again each time. */
const wholeRounds = isLongRun ? 3 : 1
/** The names differ in little: they are compared byte by byte. */
const branches = ['Dale', 'dale', 'Fell & Co "upper"', 'Ely ☂'] as const
const sets = [['Dale'], ['dale', 'Ely ☂'], [...branches]] as const
const subjects = Array.from({ length: 14 }, () => randomUUID())
const scopes = ['property:read', 'property:publish'] as const

/** By both transports in the long run alone: reading every route beside the fold takes long, and engines know nothing of transports. */
onEngines(`keys of branches (seed ${seed})`, { byNode: isLongRun }, (service) => {
  const random = randomOf(seed)
  let model: FeedModel
  let readers: readonly BranchReader[]

  const issue = async (set: readonly string[]) => {
    const { tenantId } = service().tenant
    const { text } = await service().issue({ grants: [{ tenantId, scopes, branches: set.toSorted() }] })
    return text
  }
  /** A few publications as an agency makes them: homes come, change, move to another branch or category, and go. */
  const publishSome = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      const agentRef = subjects[random(subjects.length)] ?? ''
      const branch = branches[random(branches.length + 1)]
      const payload = property({
        agent_ref: agentRef,
        ...(branch === undefined ? {} : { branch_id: branch }),
        price_information: { price: 100_000 + random(1_000) },
      })
      const item = {
        payload,
        ...(random(4) === 0 ? { category: random(2) === 0 ? 'sales' : 'lettings' } : {}),
      }
      await publish(service(), random(6) === 0 ? [item, { remove: { agentRef } }] : item)
    }
  }

  before(async () => {
    model = new FeedModel(service(), service().tenant.readKey)
    await publishSome(40 * rounds)
    readers = await Promise.all(
      sets.map(async (set) => ({
        service: service(),
        model,
        key: await branchKey(service(), set),
        branches: set,
      })),
    )
  })

  it('read on every route what the fold of the feed has of their branches, and nothing else (D11, D23)', async () => {
    await publishSome(20 * rounds)
    await model.catchUp()
    for (const reader of readers) await checkEveryRead(reader)
  })

  it('read parts of one and the same feed while it is published to and properties move between branches (P4, P9, D23)', async () => {
    const seen: SeenPart[] = []
    const run = { isDone: false }
    const reading = readers.map(async (reader) => {
      while (!run.isDone) seen.push(...(await readParts(reader, random)))
    })
    const { tenantId } = service().tenant
    const moving = async (): Promise<void> => {
      for (let n = 0; n < 2 * rounds; n += 1) {
        const [from, to] = n % 2 === 0 ? (['Dale', 'Ely ☂'] as const) : (['Ely ☂', 'dale'] as const)
        const { signal } = new AbortController()
        const steps = moveBranch(service().storage, {
          tenantId,
          from,
          to,
          dryRun: false,
          actor: 'cli:test',
          signal,
        })
        for (let step = await steps.next(); step.done !== true; step = await steps.next());
      }
    }
    await Promise.all([publishSome(12 * rounds), publishSome(12 * rounds), moving()])
    run.isDone = true
    await Promise.all(reading)
    await model.catchUp()
    assert.ok(seen.length > 0)
    for (const { what, check } of seen) {
      try {
        check(model)
      } catch (error) {
        throw new Error(`${what}, seed ${seed}`, { cause: error })
      }
    }
    for (const reader of readers) await checkEveryRead(reader)
  })

  it('answer their first request, with everything or of an empty branch, on any route (PROTOCOL §2.9)', async () => {
    const { publishPath } = feeds.property
    const targets = [listPath, `${publishPath}?after=0`, `${publishPath}/snapshot`, `${publishPath}/digest`]
    await publish(service(), { payload: property({ branch_id: 'Tŷ £ – 🏡' }) })
    const asked = targets.flatMap((target) => [
      { target, branch: 'Tŷ £ – 🏡', isEmpty: false },
      { target, branch: `none ${randomUUID()}`, isEmpty: true },
    ])
    const answers = await Promise.all(
      asked.map(async (one) => {
        // A set of its own for each, so that each request is the first.
        const key = await issue([one.branch, `alone ${randomUUID()}`])
        return { ...one, answer: await call(service(), one.target, { key }) }
      }),
    )
    for (const { target, isEmpty, answer } of answers) {
      assert.equal(answer.status, 200, `${target}: ${answer.text}`)
      assert.match(
        answer.text,
        isEmpty ? /"(?:availableCount|events|count)":0|"items":\[\]/ : /🏡|"count":1/,
        target,
      )
    }
  })

  it('have to wait while their events are collected, and erasures meanwhile show only where they belong (PROTOCOL §7, D17)', async () => {
    for (let n = 0; n < wholeRounds; n += 1) {
      const erased = await eraseOne()
      const set = [branches[n % branches.length] ?? '', `new ${n} ${randomUUID()}`]
      const key = await issue(set)
      const run = { isDone: false }
      const publishing = (async () => {
        while (!run.isDone) await publishSome(1)
      })()
      await until(
        async () => {
          const answer = await call(service(), '/api/func/api/v1/events/getevents', { key })
          if (answer.status === 200) return true
          assert.deepEqual([answer.status, problemOf(answer).code], [503, 'view_being_made'])
          assert.ok(Number(answer.headers['retry-after']) >= 1)
          return false
        },
        { what: 'the view' },
      )
      run.isDone = true
      await publishing
      await until(erased, { what: 'the end of the erasure' })
      await model.readAgain()
      for (const reader of [...readers, { service: service(), model, key, branches: set }])
        await checkEveryRead(reader)
    }
  })

  /** Begins to erase a property that was of two branches. Answers how to ask whether nothing shows its payloads any more. */
  const eraseOne = async (): Promise<() => Promise<boolean>> => {
    const agentRef = randomUUID()
    const items = ['Ely ☂', 'Dale', 'Dale'].map((branch, price) => {
      return { payload: property({ agent_ref: agentRef, branch_id: branch, price_information: { price } }) }
    })
    await publish(service(), items)
    await model.catchUp()
    const body = JSON.stringify({ feed: 'property', subjectId: agentRef, reason: 'published_in_error' })
    const headers = { 'content-type': 'application/json' }
    const key = service().tenant.eraseKey
    const begun = await call(service(), '/v1/erasures', { method: 'POST', key, headers, body })
    assert.equal(begun.status, 202, begun.text)
    const { id, closing }: { id: string; closing: { sequenceNumber: number } } = JSON.parse(begun.text)
    model.closing.add(closing.sequenceNumber)
    return async () => {
      const { text } = await call(service(), `/v1/erasures/${id}`, { key })
      const { state }: { state: string } = JSON.parse(text)
      return state === 'unreachable'
    }
  }
})
