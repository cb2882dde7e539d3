import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { newKeyText } from '@property-events/protocol'
import { issueKey } from '../../src/keys/issue.ts'
import { pepperFit, pepperForNew } from '../../src/keys/pepper-fit.ts'
import { loadPeppers } from '../../src/keys/pepper.ts'
import type { Pepper } from '../../src/keys/pepper.ts'
import { createKeyVerifier } from '../../src/keys/verify.ts'
import type { KeyVerifier } from '../../src/keys/verify.ts'
import { until } from '../support/until.ts'
import { alphabet, forge } from './forge.ts'
import { countingKeyStore } from './key-store.ts'
import type { CountingKeyStore } from './key-store.ts'

const tenantA = '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0001'
const tenantB = '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a0002'

interface Bench {
  readonly store: CountingKeyStore
  readonly pepper: Pepper
  readonly verifier: KeyVerifier
  nowMs: number
  /** What the verifier waited for, and what it waits on. */
  readonly delays: number[]
  passes: (ms: number) => Promise<void>
  readonly issue: (request?: IssueWish) => Promise<{ readonly text: string; readonly keyId: string }>
}

interface IssueWish {
  readonly operator?: boolean
  readonly expiresMs?: number
  readonly tenants?: readonly string[]
}

const open: KeyVerifier[] = []
afterEach(async () => {
  for (const verifier of open.splice(0)) await verifier.close()
})

async function bench(options: { peppers?: readonly Pepper[] } = {}): Promise<Bench> {
  const store = countingKeyStore()
  for (const tenantId of [tenantA, tenantB]) {
    await store.createTenant({ tenantId, name: tenantId, createdMs: 0, suspended: false }, 'cli:test')
  }
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const clock = () => self.nowMs
  const peppers = options.peppers ?? [pepper]
  const delay = async (ms: number): Promise<void> => {
    self.delays.push(ms)
    await self.passes(ms)
  }
  const verifier = createKeyVerifier({ keys: store, peppers, clock, delay })
  open.push(verifier)
  const self: Bench = {
    store,
    pepper,
    verifier,
    nowMs: 1_000_000,
    delays: [],
    async passes(ms) {
      self.nowMs += ms
    },
    async issue(request = {}) {
      const grants = (request.tenants ?? [tenantA]).map((tenantId) => ({
        tenantId,
        scopes: ['property:read'] as const,
      }))
      const outcome = await issueKey(store, pepper, {
        label: 'website',
        operator: request.operator ?? false,
        grants: request.operator === true ? [] : grants,
        expiresMs: request.expiresMs,
        nowMs: self.nowMs,
        actor: 'cli:test',
      })
      assert.equal(outcome.kind, 'issued')
      assert(outcome.kind === 'issued')
      return { text: outcome.text, keyId: outcome.record.keyId }
    },
  }
  return self
}

describe('verifying a key', () => {
  it('a key works with the label and grants it was issued with (D11)', async () => {
    const { verifier, issue } = await bench()
    const { text, keyId } = await issue({ tenants: [tenantA, tenantB] })
    assert.deepEqual(await verifier.verify(text), {
      kind: 'valid',
      key: {
        keyId,
        label: 'website',
        operator: false,
        leavingTenantIds: [],
        rate: undefined,
        viewsBeingMade: [],
        withoutDuties: [],
        adminScopes: [],
        networks: undefined,
        reading: undefined,
        grants: [
          { tenantId: tenantA, scopes: ['property:read'] },
          { tenantId: tenantB, scopes: ['property:read'] },
        ],
      },
    })
  })

  it('the store never holds the key or its secret (D11)', async () => {
    const { store, issue } = await bench()
    const { text } = await issue()
    const secret = text.slice('pev_'.length + 12 + 1, -6)
    const stored = JSON.stringify(await store.keys())
    assert(!stored.includes(secret))
    const [record] = await store.keys()
    assert.equal(record?.secretHash.length, 32)
    assert(!Buffer.from(record.secretHash).equals(Buffer.from(secret)))
  })

  it('a missing, malformed or foreign text is unknown and never touches the store (D7, D11)', async () => {
    const { store, verifier, issue } = await bench()
    const { text } = await issue()
    const malformed = [
      undefined,
      '',
      ' ',
      'pev_',
      ` ${text}`,
      `${text} `,
      `${text}\n`,
      text.slice(0, -1),
      `${text}0`,
      text.toUpperCase(),
      text.replace('pev_', 'pex_'),
      'x'.repeat(100_000),
      'ключ',
      '🔑'.repeat(24),
    ]
    for (const attempt of malformed) assert.deepEqual(await verifier.verify(attempt), { kind: 'unknown' })
    assert.equal(store.reads, 0)
  })

  it('a typo in any place of the key is refused without touching the store (D11)', async () => {
    const { store, verifier, issue } = await bench()
    const { text } = await issue()
    for (let place = 0; place < text.length; place += 1) {
      for (const character of alphabet) {
        if (character === text[place]) continue
        const typo = text.slice(0, place) + character + text.slice(place + 1)
        assert.deepEqual(await verifier.verify(typo), { kind: 'unknown' }, `place ${place}`)
      }
    }
    // Neighbours changed over are the other usual slip.
    for (let place = 0; place < text.length - 1; place += 1) {
      const swapped = text.slice(0, place) + text[place + 1] + text[place] + text.slice(place + 2)
      if (swapped !== text) assert.deepEqual(await verifier.verify(swapped), { kind: 'unknown' })
    }
    assert.equal(store.reads, 0)
  })

  it('an unknown id and a wrong secret get the same answer for the same number of reads (D7)', async () => {
    const { store, verifier, issue } = await bench()
    const { keyId } = await issue()
    const wrongSecret = forge(keyId)
    const unknownId = newKeyText().text
    const first = store.reads
    const a = await verifier.verify(wrongSecret)
    const between = store.reads
    const b = await verifier.verify(unknownId)
    assert.deepEqual(a, { kind: 'unknown' })
    assert.deepEqual(b, a)
    assert.deepEqual([between - first, store.reads - between], [1, 1])
    await verifier.verify(wrongSecret)
    await verifier.verify(unknownId)
    assert.equal(store.reads, 2, 'both answers are remembered alike')
  })

  it('a key made with another pepper is unknown, and works again once that pepper is given (D11)', async () => {
    const [other] = loadPeppers({ folder: undefined, given: 'another pepper, long enough' })
    const without = await bench({ peppers: [other] })
    const { text } = await without.issue()
    assert.deepEqual(await without.verifier.verify(text), { kind: 'unknown' })
    const both = createKeyVerifier({
      keys: without.store,
      peppers: [other, without.pepper],
      clock: () => without.nowMs,
    })
    open.push(both)
    assert.equal((await both.verify(text)).kind, 'valid')
  })
})

describe('the standing of a key', () => {
  it('a key is expired from the very millisecond of its expiry, without asking the store again (D7, D11)', async () => {
    const self = await bench()
    const { text } = await self.issue({ expiresMs: self.nowMs + 500 })
    self.nowMs += 499
    assert.equal((await self.verifier.verify(text)).kind, 'valid')
    self.nowMs += 1
    const verdict = await self.verifier.verify(text)
    assert.equal(verdict.kind, 'expired')
    assert.equal(self.store.reads, 1)
  })

  it('a revoked key stops working within two seconds (D11)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    assert.equal((await self.verifier.verify(text)).kind, 'valid')
    await self.store.revokeKey(keyId, self.nowMs, 'cli:test')
    self.nowMs += 1999
    assert.equal((await self.verifier.verify(text)).kind, 'revoked')
  })

  it('an answer that was slow to come is not used longer for it (D11)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    const { promise, resolve } = Promise.withResolvers<void>()
    self.store.gate = promise
    const slow = self.verifier.verify(text)
    self.nowMs += 900
    resolve()
    assert.equal((await slow).kind, 'valid')
    await self.store.revokeKey(keyId, self.nowMs, 'cli:test')
    self.nowMs += 100
    assert.equal((await self.verifier.verify(text)).kind, 'revoked')
  })

  it('a key that was revoked and has expired counts as revoked (D7)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue({ expiresMs: self.nowMs + 1 })
    await self.store.revokeKey(keyId, self.nowMs, 'cli:test')
    self.nowMs += 10
    assert.equal((await self.verifier.verify(text)).kind, 'revoked')
  })

  it('a tenant that leaves stays among the grants until reading ends, to the millisecond (PROTOCOL §5.10, D11)', async () => {
    const self = await bench()
    const { text } = await self.issue({ tenants: [tenantA, tenantB] })
    const readingEndsMs = self.nowMs + 100_000
    self.store.leaving = [
      { tenantId: tenantA, readingEndsMs },
      { tenantId: tenantB, readingEndsMs: readingEndsMs + 50 },
    ]
    const grantsOf = async () => {
      const verdict = await self.verifier.verify(text)
      const known = self.verifier.verifyKnown(text)
      if (verdict.kind !== 'valid') return [verdict.kind, known]
      assert.equal(known, verdict.key)
      assert.deepEqual(known?.leavingTenantIds, [tenantA, tenantB])
      return verdict.key.grants.map(({ tenantId }) => tenantId)
    }
    assert.deepEqual(await grantsOf(), [tenantA, tenantB])
    for (const [ms, expected] of [
      [readingEndsMs - 1, [tenantA, tenantB]],
      [readingEndsMs, [tenantB]],
      [readingEndsMs + 49, [tenantB]],
      [readingEndsMs + 50, ['disabled', undefined]],
    ] as const) {
      self.nowMs = ms
      assert.deepEqual(await grantsOf(), expected, String(ms - readingEndsMs))
    }
  })

  it('a suspended tenant is left out of the grants; with none left the key is disabled (D7, D11)', async () => {
    const self = await bench()
    const { text } = await self.issue({ tenants: [tenantA, tenantB] })
    await self.store.changeTenant(tenantA, { suspended: true }, 'cli:test')
    const partly = await self.verifier.verify(text)
    assert(partly.kind === 'valid')
    assert.deepEqual(
      partly.key.grants.map((grant) => grant.tenantId),
      [tenantB],
    )
    await self.store.changeTenant(tenantB, { suspended: true }, 'cli:test')
    self.nowMs += 1000
    assert.equal((await self.verifier.verify(text)).kind, 'disabled')
    await self.store.changeTenant(tenantB, { suspended: false }, 'cli:test')
    self.nowMs += 1000
    assert.equal((await self.verifier.verify(text)).kind, 'valid')
  })

  it('an operator key needs no tenant (D11)', async () => {
    const { verifier, issue } = await bench()
    const { text } = await issue({ operator: true })
    const verdict = await verifier.verify(text)
    assert(verdict.kind === 'valid')
    assert.equal(verdict.key.operator, true)
    assert.deepEqual(verdict.key.grants, [])
  })

  it('a wrong secret learns nothing about an expired or revoked key (D7)', async () => {
    const self = await bench()
    const { keyId } = await self.issue({ expiresMs: self.nowMs - 1 })
    await self.store.revokeKey(keyId, self.nowMs, 'cli:test')
    assert.deepEqual(await self.verifier.verify(forge(keyId)), { kind: 'unknown' })
  })
})

describe('asking the store', () => {
  it('a hundred simultaneous requests with one key read the store once (D11)', async () => {
    const { store, verifier, issue } = await bench()
    const { text } = await issue()
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => verifier.verify(text)))
    assert(verdicts.every((verdict) => verdict.kind === 'valid'))
    assert.equal(store.reads, 1)
  })

  it('busy keys together ask the store once a second whether any has changed (D11)', async () => {
    const self = await bench()
    const texts: string[] = []
    for (let made = 0; made < 20; made += 1) texts.push((await self.issue()).text)
    for (let step = 0; step < 100; step += 1) {
      for (const text of texts) assert.equal((await self.verifier.verify(text)).kind, 'valid')
      self.nowMs += 100
    }
    assert.equal(self.store.versionReads, 10)
    assert.equal(self.store.reads, texts.length)
  })

  it('each key is looked at again after one was changed, and not before (D11)', async () => {
    const self = await bench()
    const [kept, ended] = [await self.issue(), await self.issue()]
    const kinds = async () => [
      (await self.verifier.verify(kept.text)).kind,
      (await self.verifier.verify(ended.text)).kind,
    ]
    assert.deepEqual(await kinds(), ['valid', 'valid'])
    await self.store.revokeKey(ended.keyId, self.nowMs, 'cli:test')
    self.nowMs += 1_000
    assert.deepEqual(await kinds(), ['valid', 'revoked'])
    assert.equal(self.store.reads, 4)
    self.nowMs += 5_000
    assert.deepEqual(await kinds(), ['valid', 'revoked'])
    assert.equal(self.store.reads, 4)
  })

  it('guessing ids pushes no good key out of memory (D10)', async () => {
    const self = await bench()
    const { text } = await self.issue()
    await self.verifier.verify(text)
    for (let guess = 0; guess < 3000; guess += 1) await self.verifier.verify(newKeyText().text)
    const before = self.store.reads
    assert.equal((await self.verifier.verify(text)).kind, 'valid')
    assert.equal(self.store.reads, before)
  })

  it('a failure of the store is passed on and not remembered', async () => {
    const self = await bench()
    const { text } = await self.issue()
    self.store.failNext = new Error('the disk is gone')
    await assert.rejects(self.verifier.verify(text), /the disk is gone/)
    assert.equal((await self.verifier.verify(text)).kind, 'valid')
  })

  it('a clock that was set back does not keep an old answer alive (D11)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    await self.verifier.verify(text)
    await self.store.revokeKey(keyId, self.nowMs, 'cli:test')
    self.nowMs -= 60_000
    assert.equal((await self.verifier.verify(text)).kind, 'revoked')
  })
})

describe('last use', () => {
  it('a thousand requests make one write, with the latest time (D11)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    for (let request = 0; request < 1000; request += 1) {
      await self.verifier.verify(text)
      self.nowMs += 1
    }
    assert.deepEqual(self.store.writes, [])
    await self.verifier.flushUses()
    assert.deepEqual(self.store.writes, [[{ keyId, usedMs: self.nowMs - 1 }]])
    await self.verifier.flushUses()
    assert.equal(self.store.writes.length, 1, 'nothing new, nothing written')
  })

  it('refused keys count as no use (D11)', async () => {
    const self = await bench()
    const { keyId } = await self.issue()
    await self.verifier.verify(forge(keyId))
    const { text } = await self.issue({ expiresMs: self.nowMs })
    await self.verifier.verify(text)
    await self.verifier.close()
    assert.deepEqual(self.store.writes, [])
  })

  it('uses that could not be written are written the next time, at the latest on closing (D11)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    await self.verifier.verify(text)
    self.store.failNext = new Error('the disk is full')
    await assert.rejects(self.verifier.flushUses(), /the disk is full/)
    await self.verifier.close()
    assert.deepEqual(self.store.writes, [[{ keyId, usedMs: self.nowMs }]])
  })
})

describe('a key from an address with too many wrong ones', () => {
  const newKey = () => newKeyText().text

  it('is recognised at once if it exists, used before or not, and asks the store for ids once (D10)', async () => {
    const self = await bench()
    const [first, second] = [await self.issue(), await self.issue()]
    assert.equal((await self.verifier.verifyAmongGuesses(first.text)).kind, 'valid')
    assert.equal((await self.verifier.verifyAmongGuesses(second.text)).kind, 'valid')
    assert.deepEqual(self.delays, [])
    assert.equal(self.store.reads, 3, 'the ids, and each key once')
  })

  it('waits for a second at most if it was made a moment ago (D10)', async () => {
    const self = await bench()
    const { text } = await self.issue()
    await self.verifier.verifyAmongGuesses(text)
    self.nowMs += 300
    const made = await self.issue()
    assert.equal((await self.verifier.verifyAmongGuesses(made.text)).kind, 'valid')
    assert.deepEqual(self.delays, [700])
  })

  it('costs the store one look a second, however many are guessed, and nobody learns which ids exist (D7, D10)', async () => {
    const self = await bench()
    const { text, keyId } = await self.issue()
    await self.verifier.verifyAmongGuesses(text)
    const reads = self.store.reads
    const guesses = [...Array.from({ length: 500 }, newKey), forge(keyId)]
    const verdicts = await Promise.all(guesses.map((guess) => self.verifier.verifyAmongGuesses(guess)))
    assert.deepEqual(new Set(verdicts.map(({ kind }) => kind)), new Set(['unknown']))
    // The forged one is looked at before it waits with others.
    assert.deepEqual(self.delays, [1_000, 1_000])
    assert.equal(self.store.reads, reads + 2)
  })

  it('that cannot be one is refused without asking anybody (D7, D10)', async () => {
    const self = await bench()
    for (const text of [undefined, '', 'pev_nobody', `${newKey()} `]) {
      assert.equal((await self.verifier.verifyAmongGuesses(text)).kind, 'unknown')
    }
    assert.equal(self.store.reads, 0)
  })

  it('waits in bounded number: further simultaneous guesses are refused at once (D10)', async () => {
    const self = await bench()
    const { text } = await self.issue()
    await self.verifier.verifyAmongGuesses(text)
    const passing = Promise.withResolvers<void>()
    self.passes = () => passing.promise
    let refused = 0
    const guesses = Array.from({ length: 1_500 }, () =>
      self.verifier.verifyAmongGuesses(newKey()).then(() => void (refused += 1)),
    )
    await until(() => refused === 500, { what: '500 refused guesses' })
    assert.equal(
      (await self.verifier.verifyAmongGuesses(text)).kind,
      'valid',
      'a key that exists waits for nobody',
    )
    passing.resolve()
    await Promise.all(guesses)
  })

  it('is not found while the store does not answer, and is as soon as it does (D10)', async () => {
    const self = await bench()
    const { text } = await self.issue()
    self.store.failNext = new Error('away')
    assert.equal((await self.verifier.verifyAmongGuesses(text)).kind, 'unknown')
    assert.equal((await self.verifier.verifyAmongGuesses(text)).kind, 'valid')
  })
})

describe('issuing a key', () => {
  it('refuses a tenant that does not exist (D11)', async () => {
    const { store, pepper } = await bench()
    const grants = [{ tenantId: '0b5e1a4e-8a3c-4a55-9c3f-3f3f2b1a9999', scopes: ['property:read'] as const }]
    const request = {
      label: '',
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs: 0,
      actor: 'cli:test' as const,
    }
    assert.deepEqual(await issueKey(store, pepper, request), { kind: 'unknownTenant' })
  })
})

describe('a pepper that is replaced', () => {
  const old = loadPeppers({ folder: undefined, given: 'the pepper before this one' })[0]
  const both = loadPeppers({
    folder: undefined,
    given: 'the pepper from now on',
    old: 'the pepper before this one',
  })
  const replaced = async () => {
    const all = await bench({ peppers: both })
    const outcome = await issueKey(all.store, old, {
      label: 'website',
      operator: true,
      grants: [],
      expiresMs: undefined,
      nowMs: 1,
      actor: 'cli:test',
    })
    assert(outcome.kind === 'issued')
    return { ...all, text: outcome.text, keyId: outcome.record.keyId }
  }

  it('leaves keys as they are while it is not finished, and rehashes them once they are used after that (D11)', async () => {
    const { store, verifier, text, keyId } = await replaced()
    const pepperOf = async () => (await store.findKey(keyId))?.record.pepperId
    assert.equal((await verifier.verify(text)).kind, 'valid')
    assert.equal(await pepperOf(), old.pepperId)
    store.currentPepperId = both[0].pepperId
    const again = createKeyVerifier({ keys: store, peppers: both, clock: () => 2_000_000 })
    open.push(again)
    assert.equal((await again.verify(forge(keyId))).kind, 'unknown')
    assert.equal(await pepperOf(), old.pepperId, 'a wrong key changes nothing')
    assert.equal((await again.verify(text)).kind, 'valid')
    assert.equal(await pepperOf(), both[0].pepperId)
    const without = createKeyVerifier({ keys: store, peppers: [both[0]], clock: () => 3_000_000 })
    open.push(without)
    assert.equal((await without.verify(text)).kind, 'valid', 'the old pepper is not needed any more')
  })

  it('makes new keys with the old one until it is finished, which every node knows (D11)', () => {
    const [fresh] = both
    const inUse = [old.pepperId]
    assert.equal(pepperForNew(both, { pepperId: undefined, inUse })?.pepperId, old.pepperId)
    assert.equal(pepperForNew(both, { pepperId: fresh.pepperId, inUse }), fresh)
    assert.equal(pepperForNew(both, { pepperId: undefined, inUse: [] }), fresh)
    assert.equal(pepperForNew([old], { pepperId: fresh.pepperId, inUse }), undefined)
    assert.equal(pepperFit([old], { pepperId: fresh.pepperId, inUse }), 'none')
    assert.equal(pepperFit(both, { pepperId: fresh.pepperId, inUse }), 'all')
  })
})
