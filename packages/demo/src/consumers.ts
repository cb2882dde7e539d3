/** The consumers of a demo, which give its console something to show: their keys are made once and saved beside the store. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey } from '@property-events/server'
import type { Pepper, StorageEngine } from '@property-events/server'
import { marketTenants } from './demo-data/tenants.ts'
import { memberText } from '@property-events/protocol'
import { writeWhole } from '@property-events/server/plain'

/**
 * `reports`: keeps up to date, and reports a result for each listing. `follows`: keeps up to date. `lettings`: the same with lettings alone.
 * `stopped`: has read everything once, and never again. `ended`: its key has expired, and it still asks.
 */
export type ConsumerBehaviour = 'reports' | 'follows' | 'lettings' | 'stopped' | 'ended'

export interface DemoConsumer {
  readonly tenantId: string
  /** Of its key. */
  readonly label: string
  readonly behaviour: ConsumerBehaviour
}

const behaviours: readonly (readonly (readonly [label: string, behaviour: ConsumerBehaviour])[])[] = [
  [
    ['agency website', 'reports'],
    ['homes portal', 'follows'],
    ['lettings app', 'lettings'],
    ['window display', 'stopped'],
    ['old website', 'ended'],
  ],
  [
    ['agency website', 'reports'],
    ['homes portal', 'stopped'],
  ],
  [
    ['agency website', 'follows'],
    ['lettings app', 'lettings'],
  ],
]

export const demoConsumers: readonly DemoConsumer[] = marketTenants.flatMap(({ tenantId }, tenant) =>
  (behaviours[tenant] ?? []).map(([label, behaviour]) => ({ tenantId, label, behaviour })),
)

export type KeyedConsumer = DemoConsumer & { readonly keyId: string; readonly key: string }

const fileName = 'demo-consumers.json'
const dayMs = 86_400_000
/** What has stopped counts as silent from then on. */
const expectedEveryMs = 10 * 60_000

/** Uses the keys that were saved, makes the others, and keeps them all. */
export async function consumerKeys(
  folder: string,
  { keys, silence }: Pick<StorageEngine, 'keys' | 'silence'>,
  pepper: Pepper,
): Promise<readonly KeyedConsumer[]> {
  const saved = readSavedKeys(folder)
  const found: KeyedConsumer[] = []
  let changed = false
  for (const consumer of demoConsumers) {
    const before = saved.find(
      (one) =>
        memberText(one, 'tenantId') === consumer.tenantId && memberText(one, 'label') === consumer.label,
    )
    const [keyId, key] = [memberText(before, 'keyId'), memberText(before, 'key')]
    if (keyId !== undefined && key !== undefined && (await keys.findKey(keyId)) !== undefined) {
      found.push({ ...consumer, keyId, key })
      continue
    }
    changed = true
    const nowMs = Date.now()
    const hasEnded = consumer.behaviour === 'ended'
    const issued = await issueKey(keys, pepper, {
      label: consumer.label,
      operator: false,
      grants: [{ tenantId: consumer.tenantId, scopes: ['property:read'] }],
      expiresMs: hasEnded ? nowMs - dayMs : undefined,
      nowMs: hasEnded ? nowMs - 30 * dayMs : nowMs,
      actor: 'service',
    })
    if (issued.kind !== 'issued') throw new Error('the tenants of the demo are gone')
    const made = { ...consumer, keyId: issued.record.keyId, key: issued.text }
    if (consumer.behaviour === 'stopped') {
      await silence.expect(
        { kind: 'consumer', keyId: made.keyId, name: 'default' },
        expectedEveryMs,
        'service',
      )
    }
    found.push(made)
  }
  if (changed) await writeWhole(join(folder, fileName), [`${JSON.stringify(found, undefined, 2)}\n`])
  return found
}

function readSavedKeys(folder: string): readonly unknown[] {
  try {
    const saved: unknown = JSON.parse(readFileSync(join(folder, fileName), 'utf8'))
    return Array.isArray(saved) ? saved : []
  } catch {
    return []
  }
}
