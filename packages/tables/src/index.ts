/** Keeps the listings of a feed in tables of an SQL database. */
export { keepTables } from './keep-tables.ts'
export type { CopyKeeper } from './keep-tables.ts'
export type { ListingTables } from './listing-tables.ts'
export { openTables, readTableTarget } from './open-tables.ts'
export type { TablesOptions, TableTarget } from './open-tables.ts'
export { checkName } from './table-names.ts'
