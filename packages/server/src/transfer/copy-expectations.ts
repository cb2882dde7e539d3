/**
 * Intervals that were set, for a copy of a store or of one tenant (PROTOCOL §14.7). Learned intervals are not copied: the target learns
 * them itself.
 */
import { feedNames } from '@property-events/protocol'
import { presencesPerStep, presenceText } from '../consumers/silence/silence.ts'
import type { Actor } from '../audit/actor.ts'
import type { KeyRecord } from '../keys/key.ts'
import type { PresenceName, SetExpectation } from '../consumers/silence/silence.ts'
import type { StorageEngine } from '../store/storage.ts'

/**
 * The target expects publishers, and consumers of keys that it has, in the same intervals as the source, and loses settings of its own.
 * For a key that also opens other tenants, in either store, a tenant brings the intervals of consumers that have read it, and replaces no
 * others. `tenantId`: only of this tenant.
 */
export async function copyExpectations(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const isOfCopy = tenantId === undefined ? () => true : await tenantScope(from, to, tenantId)
  const wanted = await setIn(from)
  const held = await setIn(to)
  // Removals make room first, because a key can have only so many settings.
  for (const [text, { name }] of held) {
    if (!wanted.has(text) && isOfCopy(name, 'off')) await to.silence.expect(name, undefined, actor)
  }
  for (const [text, { name, expectation }] of wanted) {
    if (!isOfCopy(name, held.has(text) ? 'over' : 'new')) continue
    // A tenant or key that the target does not have is left out: its own run of the command brings it.
    await to.silence.expect(name, expectation, actor)
  }
}

interface Expected {
  readonly name: PresenceName
  readonly expectation: SetExpectation
}

/** By the texts of their names. */
async function setIn({ silence }: StorageEngine): Promise<ReadonlyMap<string, Expected>> {
  const set = new Map<string, Expected>()
  for (let after: PresenceName | undefined; ;) {
    const page = await silence.presences(after, presencesPerStep)
    for (const { name, expectation } of page) {
      if (expectation !== undefined) set.set(presenceText(name), { name, expectation })
    }
    after = page.at(-1)?.name
    if (page.length < presencesPerStep) return set
  }
}

/** An interval can be `new` in the target, go `over` an existing setting, or take that `off`. */
type Scope = (name: PresenceName, change: 'new' | 'over' | 'off') => boolean

async function tenantScope(from: StorageEngine, to: StorageEngine, tenantId: string): Promise<Scope> {
  const ofTenant = ({ grants }: KeyRecord): boolean => grants.some((grant) => grant.tenantId === tenantId)
  const ofOthers = ({ grants }: KeyRecord): boolean => grants.some((grant) => grant.tenantId !== tenantId)
  const keys = (await from.keys.keys()).filter(ofTenant)
  const moving = new Set(keys.map(({ keyId }) => keyId))
  const all = [...keys, ...(await to.keys.keys())]
  const shared = new Set(all.filter(ofOthers).map(({ keyId }) => keyId))
  const readers = new Set<string>()
  for (const feed of feedNames) {
    for (const { keyId, name } of await from.consumers.readings({ tenantId, feed }))
      readers.add(`${keyId} ${name}`)
  }
  return (name, change) => {
    if (name.kind === 'publisher') return name.tenantId === tenantId
    if (!moving.has(name.keyId)) return false
    return !shared.has(name.keyId) || (change === 'new' && readers.has(`${name.keyId} ${name.name}`))
  }
}
