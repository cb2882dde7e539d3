/** What a service is given for operators only (PROTOCOL §12.9, §12.10). */
import type { TenantExporter } from '../tenants/deletion/worker.ts'
import type { StorageEngine } from '../store/storage.ts'
import type { HttpContext } from '../http/context.ts'
import { recentFindings, storeFindings } from '../nodes/recent-findings.ts'
import type { Finding, ShownSetting } from '../nodes/recent-findings.ts'

export interface OperatorParts {
  /** Exports what a tenant owns before the tenant is deleted. Left out: this node exports nothing (PROTOCOL §12.9). */
  readonly exportTenant?: TenantExporter | undefined
  /** The shortest time that the rows of a deleted tenant stay. Default 5 s; shorter in tests. */
  readonly deletionSettleMs?: number
  /** The service's settings, as an operator may see them. */
  readonly shownSettings?: readonly ShownSetting[]
  /** What can be found out about this node and its store. Default: whether the store answers. */
  readonly findings?: (() => Promise<readonly Finding[]>) | undefined
}

export function operatorContext(
  options: OperatorParts & { readonly storage: StorageEngine },
  clock: () => number,
): Pick<HttpContext, 'exportsTenants' | 'shownSettings' | 'findings'> {
  const { storage, exportTenant, shownSettings = [], findings } = options
  return {
    exportsTenants: exportTenant !== undefined,
    shownSettings,
    findings: recentFindings(findings ?? (() => storeFindings(storage)), clock),
  }
}
