/** The data that a serving thread receives at its start, and the messages between it and the thread that started it. */
import type { RetentionDefaults } from '../feed/retention-rules.ts'
import type { NodeCounts } from '../http/bytes-in-flight.ts'
import type { ConsoleOptions } from '../http/console/console-door.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { Deprecations } from '../http/operations/index.ts'
import type { SharedMemories } from '../http/prepare-service.ts'
import type { Finding, ShownSetting } from '../http/recent-findings.ts'
import type { Pepper } from '../keys/index.ts'
import type { LogLevel } from '../observability/log-levels.ts'
import type { LogForm } from '../observability/log.ts'
import type { TakenMetrics } from '../observability/metrics.ts'
import type { OutageMemories } from '../observability/outages.ts'
import type { SealedPagesOptions } from '../pages/index.ts'
import type { StoragePass } from '../storage/open-storage.ts'
import type { FeedKey } from '../storage/storage.ts'

export interface ServingThreadData {
  readonly store: StoragePass
  readonly peppers: readonly Pepper[]
  readonly logLevel: LogLevel
  readonly logForm: LogForm
  readonly pages: SealedPagesOptions | 'off'
  readonly basePath: string
  readonly limits: Partial<ServiceLimits>
  readonly trustedProxies: number
  readonly plainConnections: boolean
  readonly deprecations: Deprecations
  readonly pictures: boolean
  readonly retention: RetentionDefaults
  readonly testKeys: boolean
  readonly console: ConsoleOptions | undefined
  readonly corsOrigins: readonly string[]
  readonly exportsTenants: boolean
  readonly shownSettings: readonly ShownSetting[]
  readonly shared: SharedMemories
  readonly outages: OutageMemories
  readonly counts: NodeCounts
}

/** Each request is answered by a reply with its number. */
export type ThreadQuestion =
  | { readonly verb: 'listen'; readonly host: string; readonly port: number }
  | { readonly verb: 'measure' }
  | { readonly verb: 'awake' }
  | { readonly verb: 'answers' }
  | { readonly verb: 'drain' }
  | { readonly verb: 'forgetFeed'; readonly key: FeedKey }
  /** Adds the thread's notes about consumers to the store. */
  | { readonly verb: 'addReadings' }
  /** The answer to the thread's question; `undefined`: it failed. */
  | { readonly verb: 'tell'; readonly question: number; readonly findings: readonly Finding[] | undefined }
  /** All threads have been asked to add their notes, as this thread wanted. */
  | { readonly verb: 'added'; readonly question: number }
  | { readonly verb: 'close' }

export interface ThreadAnswers {
  readonly listen: { readonly url: string; readonly port: number }
  readonly measure: TakenMetrics
  /** Checks nothing: any answer shows that the thread is awake. */
  readonly awake: true
  /** Whether the thread is awake and the store answers it. */
  readonly answers: boolean
  readonly drain: void
  readonly forgetFeed: void
  readonly addReadings: void
  readonly tell: void
  readonly added: void
  readonly close: void
}

/** What a thread can ask of the node. */
export interface NodeAnswers {
  readonly findings: () => Promise<readonly Finding[]>
  /** Makes all threads add their notes about consumers to the store. */
  readonly addAllReadings: () => Promise<void>
}

export type ThreadRequest = ThreadQuestion & { readonly id: number }

export type ThreadReply =
  | { readonly kind: 'prepared' }
  /** The thread asks for findings about the node, or wants all threads to add their notes about consumers. */
  | { readonly kind: 'question'; readonly id: number; readonly about: 'findings' | 'readings' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** The message and the code of a system error, because its class is lost between threads. */
  | {
      readonly kind: 'failure'
      readonly id: number
      readonly message: string
      readonly code: string | undefined
      readonly port: number | undefined
    }
