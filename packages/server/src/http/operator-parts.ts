/** What a service is given for its operators alone (PROTOCOL §12.9, §12.10). */
import type { TenantExporter } from '../feed/deleting.ts'
import type { StorageEngine } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import { recentFindings, storeFindings } from './recent-findings.ts'
import type { Finding, ShownSetting } from './recent-findings.ts'

export interface OperatorParts {
  /** Writes what a tenant owns before it is deleted. Left out: this node exports nothing (PROTOCOL §12.9). */
  readonly exportTenant?: TenantExporter | undefined
  /** How long rows of a tenant that is being deleted stay at least. Default 5 s; shorter in tests. */
  readonly deletionSettleMs?: number
  /** What the service was told, as an operator may see it. */
  readonly shownSettings?: readonly ShownSetting[]
  /** What can be found out about this node and its store. Default: whether the store answers. */
  readonly findings?: (() => Promise<readonly Finding[]>) | undefined
  /** The thread that holds the service together has `exportTenant`. */
  readonly exportsTenants?: boolean
}

export function operatorContext(
  options: OperatorParts & { readonly storage: StorageEngine },
  clock: () => number,
): Pick<HttpContext, 'exportsTenants' | 'shownSettings' | 'findings'> {
  const { storage, exportTenant, exportsTenants = false, shownSettings = [], findings } = options
  return {
    exportsTenants: exportTenant !== undefined || exportsTenants,
    shownSettings,
    findings: recentFindings(findings ?? (() => storeFindings(storage)), clock),
  }
}
