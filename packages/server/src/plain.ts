/**
 * What commands need that open no store: names of log levels, folders, locks of files, files written whole, ids of names. They start 60 ms sooner
 * than with all of the server, measured manually.
 */
export { logLevels } from './observability/log-levels.ts'
export type { LogLevel } from './observability/log-levels.ts'
export { takeFileLock } from './storage/sqlite/file-lock.ts'
export type { FileLock } from './storage/sqlite/file-lock.ts'
export { makeFolder } from './storage/sqlite/make-folder.ts'
export { uuidV5 } from './uuid-v5.ts'
export { draftPathOf, writeWhole } from './write-whole.ts'
