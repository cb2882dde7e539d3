/** Webhooks of three nodes to which things happen while they send: what the receiver has got afterwards (W1, W2, W3, W5). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { MadeWebhook } from '@property-events/protocol/wire'
import { makeTenant, placeOf } from '../../../cli/test/support/make-tenant.ts'
import { askService, isSettled, publishHomes, toThisMachine } from '../../../cli/test/support/webhook-load.ts'
import { checkLog, LoggingReceiver } from '../../../cli/test/support/webhook-log.ts'
import { isLongRun } from '../support/on-engines.ts'
import { until } from '../support/until.ts'
import { startCluster } from './faults/cluster.ts'
import type { Cluster } from './faults/cluster.ts'
import { startNodes } from './faults/service-nodes.ts'
import type { NodeFault, ServiceNode, ServiceNodes } from './faults/service-nodes.ts'

/** Longer than a lease. */
const longMs = 60_000
const paths = Array.from({ length: 6 }, (_, n) => `/gwefan/${n}`)
/** Leases of a node that is away end after 40 s. */
const patience = { timeoutMs: 180_000, everyMs: 200 }

interface Trouble {
  readonly what: string
  /** Of one endpoint. */
  readonly faults: number
  readonly happen: () => Promise<void>
}

describe('webhooks of three nodes', { skip: !isLongRun && 'it waits for leases to end' }, () => {
  const receiver = new LoggingReceiver({ answerMs: 10, refusedEvery: 101 })
  let cluster: Cluster
  let nodes: ServiceNodes
  let keys: Readonly<Record<'website' | 'agency', string>>
  let ids: readonly string[] = []
  let last = 0

  before(async () => {
    const address = await receiver.listen()
    cluster = await startCluster()
    nodes = await startNodes(3, cluster.socketFile(), toThisMachine)
    const made = await makeTenant(placeOf(nodes.environment), 'Hill & Co – Tŷ’r Bryn £', {
      website: ['property:read', 'property:webhooks'],
      agency: ['property:publish'],
    })
    keys = { website: made.keys.website.key, agency: made.keys.agency.key }
    for (const path of paths) {
      const body = { url: address + path, feed: 'property' }
      const { id } = await askService<MadeWebhook>(witness().url(), keys.website, '/v1/webhooks', body)
      ids = [...ids, id]
    }
  })
  after(async () => {
    await nodes?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
    receiver.close()
  })

  const node = (index: number): ServiceNode => {
    const one = nodes.all[index]
    assert.ok(one !== undefined)
    return one
  }
  const witness = () => node(2)
  const publish = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) last = await publishHomes(witness().url(), keys.agency, 96)
  }
  /** Each has its share, so that whatever happens to one happens to endpoints. */
  const sharedEvenly = async (): Promise<void> => {
    const share = `property_events_webhook_endpoints ${paths.length / nodes.all.length}`
    for (const { name, metricsUrl } of nodes.all)
      await until(async () => (await (await fetch(metricsUrl())).text()).split('\n').includes(share), {
        ...patience,
        what: `the share of ${name}`,
      })
  }
  const settle = async (): Promise<void> => {
    for (const id of ids)
      await until(() => isSettled(witness().url(), keys.website, id, last), {
        ...patience,
        what: `${id} at ${last}`,
      })
  }
  const suffer = (fault: NodeFault, durationMs: number) => async (): Promise<void> => {
    const suffering = node(0).suffer(fault, durationMs)
    await publish(2)
    await suffering
  }

  const troubles: readonly Trouble[] = [
    {
      what: 'are replaced one after the other',
      faults: 0,
      async happen() {
        for (const one of nodes.all) await one.suffer('drain', 0)
      },
    },
    { what: 'of which one hangs', faults: 1, happen: suffer('pause', longMs) },
    { what: 'of which one is killed', faults: 1, happen: suffer('kill', 1_000) },
    { what: 'of which one loses connections midway', faults: 1, happen: suffer('cut', longMs / 4) },
    {
      what: 'of which one has no way to the database',
      faults: 1,
      happen: suffer('freeze', longMs),
    },
    {
      what: 'of which one hears nothing of what it writes',
      faults: 1,
      happen: suffer('silence', longMs),
    },
    {
      what: 'whose database is away',
      faults: 1,
      async happen() {
        await Promise.all(nodes.all.map((one) => one.suffer('freeze', longMs)))
      },
    },
    {
      what: 'whose database is lost to its standby',
      faults: 1,
      async happen() {
        await cluster.promote({ clockOffsetMs: 30_000, lead: nodes.leadTo })
        await cluster.untilVouchedFor()
      },
    },
  ]

  for (const { what, faults, happen } of troubles) {
    it(`${what} lose nothing, keep the order of each property, and repeat at most a window (W1, W2, W3, W5)`, async (t) => {
      const [after, seen] = [last, paths.map((path) => receiver.of(path).length)]
      const logs = () => paths.map((path, n) => receiver.of(path).slice(seen[n]))
      await sharedEvenly()
      await publish(3)
      await until(() => logs().every((log) => log.length > 20))
      await happen()
      await publish(2)
      await settle()
      const repeats = logs().map((log) => checkLog(log, { after, last, faults }))
      t.diagnostic(`${last - after} events to each endpoint; came again: ${repeats.join(', ')}`)
    })
  }
})
