/** Keeps the listings of a feed in tables of an SQL database. */
export type { CopyKeeper } from './copy-keeper.ts'
export { keepTables } from './keep-tables.ts'
export type { ListingTables } from './listing-tables.ts'
export { openTables } from './open-tables.ts'
export type { TablesOptions } from './open-tables.ts'
export { checkName } from './table-names.ts'
export { readTableTarget } from './target.ts'
export type { TableTarget } from './target.ts'
