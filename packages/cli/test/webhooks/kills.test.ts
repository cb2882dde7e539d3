/** Webhooks of a process that is killed: what the receiver has got afterwards (W1, W2, W3). */
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { MadeWebhook } from '@property-events/protocol/wire'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'
import { askService, isSettled, publishHomes, toThisMachine } from '../support/webhook-load.ts'
import { checkLog, LoggingReceiver } from '../support/webhook-log.ts'

const kills = isLongRun ? 200 : 3

describe('webhooks of a process that is killed', () => {
  const root = temporaryFolder()
  const receiver = new LoggingReceiver()
  const nodes: Running[] = []
  let address = ''
  before(async () => (address = await receiver.listen()))
  after(() => {
    for (const { child } of nodes) child.kill('SIGKILL')
    receiver.close()
    removeFolder(root)
  })

  it(`lose nothing, keep the order of each property and repeat at most a window, ${kills} times over (W1, W2, W3)`, async (t) => {
    const data = join(root, 'one')
    const serve = async (): Promise<Running> => {
      const args = ['serve', '--data', data, '--port', '0', '--metrics-port', '0', ...toThisMachine]
      const running = await start(args)
      nodes.push(running)
      return running
    }
    let node = await serve()
    const { keys } = await makeTenant({ data }, 'Tŷ Gwyn & Daughters £', {
      website: ['property:read', 'property:webhooks'],
      agency: ['property:publish'],
    })
    const { id } = await askService<MadeWebhook>(node.line.url, keys.website.key, '/v1/webhooks', {
      url: `${address}/one`,
      feed: 'property',
    })
    let last = 0
    for (let kill = 1; kill <= kills; kill += 1) {
      last = await publishHomes(node.line.url, keys.agency.key, 96)
      const wanted = receiver.of('/one').length + ((kill * 37) % 90)
      await until(() => receiver.of('/one').length > wanted)
      node.child.kill('SIGKILL')
      await once(node.child, 'exit')
      node = await serve()
    }
    await until(() => isSettled(node.line.url, keys.website.key, id, last))
    const repeats = checkLog(receiver.of('/one'), { last, faults: kills })
    t.diagnostic(`${last} events, ${repeats} came again`)
    await node.stop()
  })
})
