/** What a node does for all endpoints that it sends to together. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { it } from 'node:test'
import Database from 'better-sqlite3'
import type { KeyVerdict } from '../../src/keys/index.ts'
import { createLiveTail } from '../../src/live/tail.ts'
import { unreported } from '../../src/runtime/background-task.ts'
import { storeFileOf } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { newSecret, sealSecret } from '../../src/webhooks/secret.ts'
import { sendWebhooks } from '../../src/webhooks/worker.ts'
import type { WebhookWorkerParts } from '../../src/webhooks/worker.ts'
import { tenantA } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { newEndpoint, secretNamed, withEndpoint } from '../store/support/webhooks.ts'
import { makeStoreFolder, openNewStore, temporaryStore } from '../support/temporary-store.ts'
import { until } from '../support/until.ts'

const pepper = { pepperId: 'pupur', secret: new Uint8Array(32).fill(7), isOld: false }

function worker(storage: StorageEngine, check: WebhookWorkerParts['verifier']['check']) {
  const nothing = { note: () => undefined }
  return sendWebhooks({
    storage,
    verifier: { check },
    nodeId: randomUUID(),
    peppers: [pepper],
    options: { allowHttp: false, networks: [], answers: 'none' },
    clock: Date.now,
    report: unreported,
    onTry: () => undefined,
    tail: createLiveTail({ events: storage.events, report: unreported }),
    formOf: () => undefined,
    ledger: nothing,
    readCounts: nothing,
  })
}

async function withSignedEndpoint(storage: StorageEngine, keyId: string): Promise<string> {
  const { endpointId } = newEndpoint()
  const sealed = sealSecret(pepper, endpointId, newSecret())
  const secret = secretNamed('', { sealed, pepperId: pepper.pepperId })
  await withEndpoint(storage, { endpointId, keyId, secret, rights: {} })
  return endpointId
}

it('writes nothing into a store in which no endpoint is enabled (PROTOCOL §16)', async () => {
  const folder = makeStoreFolder()
  await using store = await withTenants(await openNewStore(folder, { writesOn: 'thisThread' }))
  const endpointId = await withSignedEndpoint(store, 'allwedd')
  const paused = { kind: 'paused', reason: 'asked', sinceMs: 1 } as const
  await store.webhooks.change(endpointId, { state: paused }, 'cli:test')
  let looks = 0
  const webhooks: StorageEngine['webhooks'] = {
    ...store.webhooks,
    renew(...args) {
      looks += 1
      return store.webhooks.renew(...args)
    },
  }
  const db = new Database(storeFileOf(folder), { readonly: true })
  const version = () => db.pragma('data_version', { simple: true })
  const before = version()
  const sending = worker({ ...store, webhooks }, async () => ({ kind: 'unknown' }))
  for (let seen = 0; seen < 3; seen += 1) {
    sending.nudge()
    await until(() => looks > seen, { what: 'another look' })
  }
  await store.webhooks.prune()
  await sending.close()
  assert.equal(version(), before)
  await store.webhooks.change(endpointId, { state: { kind: 'enabled' } }, 'cli:test')
  assert.notEqual(version(), before)
  db.close()
  rmSync(folder, { recursive: true })
})

it('reads each key once for all its endpoints, eight keys side by side, so that rights end in time (PROTOCOL §16.1, D11)', async () => {
  await using store = await withTenants(await temporaryStore())
  const keyIds = Array.from({ length: 20 }, (_, index) => `allwedd ${index}`)
  const endpointIds: string[] = []
  for (const keyId of [...keyIds, ...keyIds]) endpointIds.push(await withSignedEndpoint(store, keyId))
  const grant = { tenantId: tenantA, scopes: ['property:read', 'property:webhooks'] } as const
  const valid = (keyId: string): KeyVerdict => ({
    kind: 'valid',
    key: {
      keyId,
      label: 'Gwefan – £ 🏡',
      operator: false,
      grants: [grant],
      leavingTenantIds: [],
      withoutDuties: [],
      viewsBeingMade: [],
      rate: undefined,
      adminScopes: [],
      networks: undefined,
      reading: undefined,
    },
  })
  const asked: string[] = []
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let isEnded = false
  let underWay = 0
  let most = 0
  const sending = worker(store, async (keyId) => {
    if (!isEnded) return valid(keyId)
    asked.push(keyId)
    underWay += 1
    most = Math.max(most, underWay)
    await answered
    underWay -= 1
    return { kind: 'unknown' }
  })
  await until(() => sending.counts().endpoints === endpointIds.length, { what: 'the leases' })
  isEnded = true
  await until(() => asked.length === 8, { what: 'eight keys side by side' })
  answer()
  const isDisabled = async (endpointId: string): Promise<boolean> =>
    (await store.webhooks.find(endpointId))?.state.kind === 'disabled'
  for (const endpointId of endpointIds) await until(() => isDisabled(endpointId), { what: 'the end' })
  assert.deepEqual(asked.slice(0, keyIds.length).toSorted(), keyIds.toSorted())
  assert.equal(most, 8)
  await sending.close()
})
