/**
 * Sends webhooks from this node: holds leases of its share of the endpoints, renews them, and gives them back. Every change of an endpoint
 * takes its lease away, so whoever claims it next begins with what is stored.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FeedKey } from '../events/feed-key.ts'
import type { KeyVerdict, KeyVerifier } from '../keys/index.ts'
import { nudgedWait, startWorker } from '../runtime/worker-loop.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { EndpointRecord, Lease, Renewal, WebhookStore } from './endpoint.ts'
import type { EndpointSender } from './endpoint-sender.ts'
import { heldBytes } from './held-bytes.ts'
import { progressWriter } from './progress-writer.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { sendingRight } from './rights.ts'
import type { SendingRight } from './rights.ts'
import { senderTurns } from './sender-turns.ts'
import type { StartParts } from './start-sender.ts'

/** Where several nodes may serve the store: one that dies is followed after this time. */
const sharedLease = { leaseMs: 40_000, renewEveryMs: 2_000 } as const
/** Where one node is alone nobody waits for its leases, and each renewal is a write with a flush. */
const soleLease = { leaseMs: 120_000, renewEveryMs: 20_000 } as const
/** A right that ends must end here within 2 s, and cached knowledge of a key takes one of them. */
const checkEveryMs = 500
/** One after the other, 1,000 keys at 1 ms each would need a second; beside requests, a node reads on as many connections. */
const keysAtOnce = 8
const retryMs = 1_000
/** How long tries under way are waited for when the service stops; they are repeated otherwise. */
const finishMs = 5_000
const pruneEveryMs = 60_000
/** For events between reading and sending, of all endpoints of the node. */
const heldMostBytes = 32 * 2 ** 20

export interface WebhookWorkerParts extends Omit<
  StartParts,
  'webhooks' | 'events' | 'want' | 'turn' | 'held'
> {
  readonly storage: Pick<StorageEngine, 'webhooks' | 'events' | 'epochNeed' | 'waitingFeeds'> & {
    readonly nodes: Pick<StorageEngine['nodes'], 'isShared' | 'live'>
  }
  readonly nodeId: string
  readonly verifier: Pick<KeyVerifier, 'check'>
}

/** Of one node. */
export interface SendingCounts {
  readonly endpoints: number
  /** They are probed, and their cursor stands. */
  readonly failing: number
  /** Tries, and reads for them. */
  readonly underWay: number
}

export interface WebhookWorker {
  counts(): SendingCounts
  /** An endpoint was made or changed on this node. */
  nudge(): void
  /** Resolves when nothing that was read of the feed before is under way to a receiver (D17). */
  forget(key: FeedKey): Promise<void>
  /** Ends tries under way, writes progress, and gives the leases back. */
  close(): Promise<void>
}

interface Sending {
  readonly sender: EndpointSender
  readonly endpoint: EndpointRecord
  /** Of its key, as it was last looked at. */
  verdict: KeyVerdict | 'unknown'
  right: SendingRight | 'unknown'
  isLeaving: boolean
}

export function sendWebhooks(parts: WebhookWorkerParts): WebhookWorker {
  const { storage, report } = parts
  const loop = nudgedWait()
  const endpoints = new LeasedEndpoints(parts, loop.nudge)
  const { renewEveryMs } = endpoints.lease
  const workers = [
    startWorker({ task: 'send_webhooks', report, retryMs, wait: loop.wait }, async () => {
      await endpoints.renew()
      return { waitMs: renewEveryMs }
    }),
    startWorker({ task: 'send_webhooks', report, retryMs }, async () => {
      await endpoints.checkRights()
      return { waitMs: checkEveryMs }
    }),
    startWorker({ task: 'age_notes', report, retryMs, firstAfterMs: pruneEveryMs }, async () => {
      const isMore = (await storage.webhooks.prune()) > 0
      return { waitMs: isMore ? retryMs : pruneEveryMs }
    }),
  ]
  return {
    counts: () => endpoints.counts(),
    nudge: loop.nudge,
    forget: (key) => endpoints.forget(key),
    async close() {
      for (const worker of workers) await worker.close()
      await endpoints.close()
    },
  }
}

class LeasedEndpoints {
  readonly lease: typeof sharedLease | typeof soleLease
  readonly #parts: WebhookWorkerParts
  readonly #store: WebhookStore
  readonly #sending = new Map<string, Sending>()
  readonly #writer: ProgressWriter
  readonly #startParts: StartParts
  readonly #nudge: () => void
  #endsMs = 0

  constructor(parts: WebhookWorkerParts, nudge: () => void) {
    const { storage, report } = parts
    this.lease = storage.nodes.isShared ? sharedLease : soleLease
    this.#parts = parts
    this.#store = storage.webhooks
    this.#nudge = nudge
    const writer = progressWriter(
      storage.webhooks,
      { onEnd: (sender) => this.#end(sender), onNotice: nudge },
      report,
    )
    this.#writer = writer
    this.#startParts = {
      ...parts,
      webhooks: storage.webhooks,
      events: storage.events,
      held: heldBytes(heldMostBytes),
      turn: senderTurns(),
      want: (sender, when) => writer.want(sender, when),
    }
  }

  counts(): SendingCounts {
    const all = [...this.#sending.values()].map(({ sender }) => sender.counts)
    return {
      endpoints: all.length,
      failing: all.filter(({ isFailing }) => isFailing).length,
      underWay: all.reduce((sum, { underWay }) => sum + underWay, 0),
    }
  }

  /** Also takes and gives back endpoints, so that each node has its share. */
  async renew(): Promise<void> {
    const endsMs = performance.now() + this.lease.leaseMs
    const renewal = await this.#store.renew(this.#parts.nodeId, this.lease.leaseMs)
    const held = new Map(renewal.held.map((one) => [one.endpointId, one.leaseNo]))
    for (const { sender } of this.#sending.values())
      if (held.get(sender.endpointId) !== sender.leaseNo) this.#drop(sender)
    const strays = [...held.keys()].filter((endpointId) => !this.#sending.has(endpointId))
    if (strays.length > 0) await this.#store.release(this.#parts.nodeId, strays)
    const maySend = await this.#sendableFeeds()
    this.#endsMs = endsMs
    for (const one of this.#sending.values()) renewOne(one, endsMs, maySend)
    for (const one of await this.#takeShare(renewal)) renewOne(one, endsMs, maySend)
  }

  /** A key that has lost a right ends its endpoints. When any key has changed, the store is asked about all of them. */
  async checkRights(): Promise<void> {
    const ofKeys = Map.groupBy(this.#sending.values(), ({ endpoint }) => endpoint.keyId).entries()
    const checkSome = async (): Promise<void> => {
      // All of them take from the same entries.
      for (const [keyId, sending] of ofKeys) {
        const verdict = await this.#verdictNow(keyId)
        // It is the same object while nothing changes.
        for (const one of sending.filter((each) => each.verdict !== verdict)) {
          one.verdict = verdict
          this.#setRight(one, verdict === 'unknown' ? verdict : sendingRight(verdict, one.endpoint))
        }
      }
    }
    await Promise.all(Array.from({ length: keysAtOnce }, checkSome))
  }

  /** While the store does not answer nothing is sent: the key may have ended (D11). */
  async #verdictNow(keyId: string): Promise<KeyVerdict | 'unknown'> {
    try {
      return await this.#parts.verifier.check(keyId)
    } catch (error) {
      this.#parts.report.failed('send_webhooks', error)
      return 'unknown'
    }
  }

  #setRight(one: Sending, right: Sending['right']): void {
    if (right === one.right) return
    one.right = right
    if (right === 'lost') one.sender.revoke()
    else if (right === 'unknown') one.sender.renewed(this.#endsMs, false)
    // Its view is ready, or is being made again.
    else this.#nudge()
  }

  async forget({ tenantId, feed }: FeedKey): Promise<void> {
    const ofFeed = [...this.#sending.values()].filter(
      ({ endpoint }) => endpoint.tenantId === tenantId && endpoint.settings.feed === feed,
    )
    await Promise.all(ofFeed.map(({ sender }) => sender.forget()))
    // What receivers answered has to be stored before the erasure takes it.
    await this.#writer.settled()
  }

  async close(): Promise<void> {
    this.#writer.close()
    const finishing = [...this.#sending.values()].map(async ({ sender }) => {
      await Promise.race([sender.finish(), delay(finishMs, undefined, { ref: false })])
      await this.#writer.flush(sender)
    })
    await Promise.allSettled(finishing)
    for (const { sender } of this.#sending.values()) sender.abandon()
    // Another node would wait for the leases to end otherwise.
    await this.#store.release(this.#parts.nodeId).catch(() => undefined)
  }

  /** Where only a write was lost, the next renewal gives back the lease, and takes it anew. */
  #end(sender: EndpointSender): void {
    this.#drop(sender)
    this.#nudge()
  }

  #drop(sender: EndpointSender): void {
    sender.abandon()
    if (this.#sending.get(sender.endpointId)?.sender === sender) this.#sending.delete(sender.endpointId)
  }

  /** A store that needs an epoch sends nothing: it may be a copy, or have lost what was sent (D13). */
  async #sendableFeeds(): Promise<MaySend> {
    const { storage } = this.#parts
    const need = await storage.epochNeed()
    if (need !== 'some') return () => need === 'none'
    const waiting = await storage.waitingFeeds()
    return ({ tenantId, settings: { feed } }) =>
      !waiting.some(({ key }) => key.tenantId === tenantId && key.feed === feed)
  }

  async #takeShare({ enabled, senders }: Renewal): Promise<readonly Sending[]> {
    const share = Math.ceil(enabled / Math.max(1, senders))
    const staying = [...this.#sending.values()].filter(({ isLeaving }) => !isLeaving)
    for (const one of staying.slice(share)) void this.#giveBack(one)
    if (staying.length >= share) return []
    const { nodeId } = this.#parts
    const leases = await this.#store.claim(nodeId, share - staying.length, this.lease.leaseMs)
    const started: Sending[] = []
    for (const lease of leases) started.push(...(await this.#start(lease)))
    return started
  }

  async #start(lease: Lease): Promise<readonly Sending[]> {
    const { endpoint } = lease
    const verdict = await this.#parts.verifier.check(endpoint.keyId)
    const reading = verdict.kind === 'valid' ? verdict.key.reading : undefined
    const { startSender } = await import('./start-sender.ts')
    const sender = startSender(this.#startParts, lease, reading)
    if (sender === 'unsigned') {
      await this.#leaveUnsigned(endpoint)
      return []
    }
    const right = sendingRight(verdict, endpoint)
    const one: Sending = { sender, endpoint, verdict, right, isLeaving: false }
    this.#sending.set(endpoint.endpointId, one)
    if (one.right === 'lost') sender.revoke()
    return [one]
  }

  /** A node that knows the pepper of its secrets takes it, as while a pepper is replaced; where none does, it needs a new secret. */
  async #leaveUnsigned({ endpointId, secrets }: EndpointRecord): Promise<void> {
    const { storage, nodeId, clock } = this.#parts
    const known = new Set((await storage.nodes.live()).flatMap(({ pepperIds }) => pepperIds))
    if (secrets.some(({ pepperId }) => known.has(pepperId))) return this.#store.release(nodeId, [endpointId])
    const state = { kind: 'paused', reason: 'copied', sinceMs: clock() } as const
    await this.#store.change(endpointId, { state }, 'service')
  }

  /** To a node that has fewer. */
  async #giveBack(one: Sending): Promise<void> {
    one.isLeaving = true
    try {
      await one.sender.finish()
      await this.#writer.flush(one.sender)
      await this.#store.release(this.#parts.nodeId, [one.sender.endpointId])
    } catch (error) {
      this.#parts.report.failed('send_webhooks', error)
    }
    this.#drop(one.sender)
  }
}

type MaySend = (endpoint: EndpointRecord) => boolean

function renewOne({ sender, endpoint, right }: Sending, endsMs: number, maySend: MaySend): void {
  sender.renewed(endsMs, right === 'granted' && maySend(endpoint))
}
