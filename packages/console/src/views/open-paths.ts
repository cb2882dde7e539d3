/** Which paths a session may see, by the table of views: where it arrives, what its menu has, and where links may lead. */
import { paths } from '../base.ts'
import type { IconName } from '../parts/icon-drawings.ts'
import { hasScope, seesAllTenants } from '../session/access.ts'
import type { Access, Scope } from '../session/access.ts'
import { views } from './index.ts'
import type { View } from './view.ts'

export interface MenuEntry {
  readonly name: string
  readonly icon: IconName
  /** One of `paths`. */
  readonly path: string
}

/** The two levels of the menu: views of the service, and of an agency. */
interface Menu {
  readonly service: readonly MenuEntry[]
  readonly agency: readonly MenuEntry[]
}

/** What a session may open, with the agency that is chosen. */
export function menuOf(access: Access, tenantId: string | undefined): Menu {
  return {
    service: entriesOf(access, undefined),
    agency: tenantId === undefined ? [] : entriesOf(access, tenantId),
  }
}

/** Without an agency, the views of the service; with one, its own. */
function entriesOf(access: Access, tenantId: string | undefined): readonly MenuEntry[] {
  return views
    .filter(({ path }) => isOfAgency(path) === (tenantId !== undefined))
    .flatMap(({ tabs = [] }) => tabs)
    .map((tab) => ({ ...tab, path: tab.path(tenantId ?? '') }))
    .filter(({ path, needs }) => mayOpen(access, path) && holdsOne(access, needs, tenantId))
    .map(({ name, icon, path }) => ({ name, icon, path }))
}

function isOfAgency(path: string): boolean {
  return path.startsWith('/tenants/')
}

/** The agency whose views the menu has: the chosen one, if the key may see it; for a key of one agency, that. */
export function agencyOf({ operator, grants }: Access, chosen: string | undefined): string | undefined {
  if (operator || grants.some(({ tenantId }) => tenantId === chosen)) return chosen
  return grants.length === 1 ? grants[0]?.tenantId : undefined
}

/** Where the user arrives after choosing a tenant: the first entry of its menu. */
export function firstPath(access: Access, tenantId: string): string {
  return entriesOf(access, tenantId)[0]?.path ?? paths.overview()
}

/** Where the user arrives after signing in; `undefined`: at the overview, the list of the key's tenants, or what a key without a view may do. */
export function arrival(access: Access): string | undefined {
  if (seesAllTenants(access) || access.grants.length > 1) return undefined
  const [only] = access.grants
  const path = only === undefined ? entriesOf(access, undefined)[0]?.path : firstPath(access, only.tenantId)
  return path === paths.overview() ? undefined : path
}

/** Whether a view at one of `paths` is open to the session. A link to any other is not offered. */
export function mayOpen(access: Access, path: string): boolean {
  const [wanted = ''] = path.split(/[?#]/)
  return views.some((view) => {
    const parts = partsOf(view, wanted)
    return parts !== undefined && isOpen(access, view, parts)
  })
}

/** Whether a session may see a view at an address with these parts. */
export function isOpen(access: Access, { needs }: View, parts: Readonly<Record<string, string | undefined>>) {
  return holdsOne(access, needs?.(parts), parts['tenantId'])
}

function holdsOne(
  access: Access,
  needs: readonly Scope[] | undefined,
  tenantId: string | undefined,
): boolean {
  return needs === undefined || needs.some((scope) => hasScope(access, scope, tenantId))
}

/** The parts of the address by their names; `undefined`: it is another view's. */
function partsOf({ path }: View, address: string): Readonly<Record<string, string>> | undefined {
  const names = path.split('/')
  const parts = address.split('/')
  const isSame = names.every((name, n) =>
    name.startsWith(':') ? (parts[n] ?? '') !== '' : name === parts[n],
  )
  if (!isSame || parts.length > names.length) return undefined
  const found: Record<string, string> = {}
  for (const [n, name] of names.entries()) {
    if (name.startsWith(':')) found[name.slice(1)] = parts[n] ?? ''
  }
  return found
}

/**
 * The address of the same view for another tenant: for a feed or for keys. `undefined` if the view shows something that only one tenant
 * has, such as a property, or has no tenant.
 */
export function sameViewOf(path: string, tenantId: string): string | undefined {
  const match = /^(.*\/tenants\/)[^/]+(\/(?:feeds\/[^/]+|[^/]+))$/.exec(path)
  return match === null ? undefined : `${match[1]}${tenantId}${match[2]}`
}
