/** What the start of a demo needs. What it needs later is loaded later, from entries of its own: a start takes no longer for it. */
export { createDemoTenants, findMarket, isDemoLoaded, loadDemo } from './load.ts'
export type { LoadedMarket } from './load.ts'
export { marketTenants } from './demo-data/tenants.ts'
