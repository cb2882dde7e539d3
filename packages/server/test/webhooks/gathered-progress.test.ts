/** What is written of an endpoint while more of it happens. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { GatheredProgress } from '../../src/webhooks/gathered-progress.ts'
import { EndpointPlan } from '../../src/webhooks/plan.ts'
import { newEndpoint } from '../store/support/webhooks.ts'

it('an epoch that is announced while another is being written is written after it (D13)', () => {
  const given = newEndpoint()
  const progress = {
    settled: 0,
    epoch: 'first',
    failingSinceMs: undefined,
    waiting: 0,
    givenUp: 0,
    acknowledged: undefined,
  }
  const endpoint = { ...given, state: { kind: 'enabled' }, secrets: [], progress } as const
  const plan = new EndpointPlan({ settled: 0, waiting: [], failingSinceMs: undefined }, given.settings)
  const gathered = new GatheredProgress({ leaseNo: 1, writes: 0, endpoint, waiting: [] }, plan)
  gathered.epoch = 'second'
  const taken = gathered.take()
  gathered.epoch = 'third'
  taken?.written()
  assert.equal(taken?.write.epoch, 'second')
  assert.equal(gathered.isEmpty, false)
  assert.equal(gathered.take()?.write.epoch, 'third')
})
