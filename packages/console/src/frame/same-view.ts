/**
 * The address of the same view for another tenant: of a feed or of keys. `undefined` where the view is about something that only one
 * tenant has, such as a property, or has no tenant.
 */
export function sameViewOf(path: string, tenantId: string): string | undefined {
  const match = /^(.*\/tenants\/)[^/]+(\/(?:feeds\/[^/]+|[^/]+))$/.exec(path)
  return match === null ? undefined : `${match[1]}${tenantId}${match[2]}`
}
