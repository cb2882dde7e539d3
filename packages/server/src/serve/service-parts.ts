/** What a service is made of and how it is set. */
import type { Logger } from 'pino'
import type { ServiceLimits } from '../http/limits.ts'
import type { Pepper } from '../keys/index.ts'
import type { Finding, ShownSetting } from '../nodes/recent-findings.ts'
import type { ErasureList } from '../privacy/erasure/journal.ts'
import type { RetentionDefaults } from '../privacy/retention/rules.ts'
import type { SealedPagesOptions } from '../reading/page-cache/index.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { TenantExporter } from '../tenants/deletion/worker.ts'
import type { ConsoleOptions } from '../console/files.ts'
import type { Deprecation } from '../http/operation.ts'
import type { WebhookOptions } from '../webhooks/receiver.ts'
import type { PictureSource } from '../pictures/routes.ts'

/** The announced ends of operations, by their `operationId`. */
export type Deprecations = Readonly<Record<string, Deprecation>>

/** Which operations the table has, and how they are described. */
export interface TableOptions {
  /** Operations whose end is announced with each of their answers (D27). */
  readonly deprecations?: Deprecations
  /** The photographs of invented homes under `/pictures`. Left out: there are none. */
  readonly pictures?: PictureSource | undefined
  /** Offer the console, in a browser at `/console` (PROTOCOL §15). Left out: it is off. */
  readonly console?: ConsoleOptions | undefined
}

/** What a service is given for operators only (PROTOCOL §12.9, §12.10). */
interface OperatorParts {
  /** Exports what a tenant owns before the tenant is deleted. Left out: this node exports nothing (PROTOCOL §12.9). */
  readonly exportTenant?: TenantExporter | undefined
  /** The shortest time that the rows of a deleted tenant stay. Default 5 s; shorter in tests. */
  readonly deletionSettleMs?: number
  /** The service's settings, as an operator may see them. */
  readonly shownSettings?: readonly ShownSetting[]
  /** What can be found out about this node and its store. Default: whether the store answers. */
  readonly findings?: (() => Promise<readonly Finding[]>) | undefined
}

export interface ServiceParts extends TableOptions, OperatorParts {
  /** Stays open when the service closes. */
  readonly storage: StorageEngine
  /** The first one is for new keys; all are accepted for existing keys. */
  readonly peppers: readonly Pepper[]
  readonly log: Logger
  /** Ready-made pages; with `off`, every page comes from the store. Default: 64 MiB in memory, no file. */
  readonly pages?: SealedPagesOptions | 'off'
  /** Path prefix of every route, such as `/feed`. */
  readonly basePath?: string
  readonly limits?: Partial<ServiceLimits>
  /** For tenants without rules of their own. Default: everything is kept. */
  readonly retention?: RetentionDefaults
  /** Where this node records what is erased (D17). Stays open when the service closes. */
  readonly erasureList?: ErasureList | undefined
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** The number of our own proxies in front of the service. Default 0: `X-Forwarded-For` is not trusted. */
  readonly trustedProxies?: number
  /** `false`: every request goes through Node's HTTP, with the same answers. Default true. */
  readonly plainConnections?: boolean
  /** How long the store's answer about its maintenance is reused. Default 1 s; shorter in tests. */
  readonly maintenanceFreshMs?: number | undefined
  /** Test keys work, and open the sandbox (PROTOCOL §2.8). Default false. */
  readonly testKeys?: boolean
  /** To whom this node sends webhooks, or that it sends none. Default: to public addresses by https. */
  readonly webhooks?: WebhookOptions | 'off'
  /** Origins whose pages may read answers in a browser, as browsers write them. Default: none. */
  readonly corsOrigins?: readonly string[]
}
