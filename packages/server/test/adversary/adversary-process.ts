/**
 * Adversaries in a process of their own: told once whom to attack and how, they go on until they are told anything else, then say what they were
 * answered and end.
 */
import { setPriority } from 'node:os'
import { randomOf } from '../../../client/test/support/random.ts'
import { adversaries } from './adversaries.ts'
import type { AdversaryName } from './adversaries.ts'
import type { Tally } from './tally.ts'
import type { Target } from './target.ts'

export interface Orders {
  readonly target: Target
  readonly names: readonly AdversaryName[]
  readonly seed: number
}

export type Tallies = Readonly<Record<string, Tally>>

// The bystander goes first where there are few cores: what it waits for is to be the service.
setPriority(10)

process.once('message', (orders: Orders) => {
  const over = new AbortController()
  process.once('message', () => over.abort())
  process.once('disconnect', () => process.exit())
  attack(orders, over.signal).then(
    (tallies) => process.send?.(tallies, () => process.exit()),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.send?.('ready')

async function attack({ target, names, seed }: Orders, signal: AbortSignal): Promise<Tallies> {
  const tallies = await Promise.all(
    names.map(
      async (name, index) => [name, await adversaries[name](target, randomOf(seed + index), signal)] as const,
    ),
  )
  return Object.fromEntries(tallies)
}
