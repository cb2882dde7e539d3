/** What the start of a demo needs. What it needs later is loaded later, from entries of its own: a start takes no longer for it. */
export { createDemoTenants, findMarket, isDemoLoaded, loadDemo } from './load.ts'
export type { LoadedMarket } from './load.ts'
export { lastSaleMs } from './market/demo-market.ts'
export { nowhere } from './market/media.ts'
export { marketTenants } from './market/tenants.ts'
