/**
 * What commands need that open no store: names of log levels, networks, folders, locks of files, files written whole, ids of names, faults
 * of JSON. They start 60 ms sooner
 * than with all of the server, measured manually.
 */
export { logLevels } from './runtime/log/log-text.ts'
export type { LogLevel } from './runtime/log/log-text.ts'
export { takeFileLock, makeFolder } from './sql/sqlite/file-lock.ts'
export type { FileLock } from './sql/sqlite/file-lock.ts'
export { allowedNetworks, isNetwork } from './keys/allowed-networks.ts'
export { defaultLimits } from './http/limits.ts'
export { syntaxFaultOf } from './http/requests/syntax-remedy.ts'
export { uuidV5 } from './runtime/hashes.ts'
export { draftPathOf, writeWhole } from './runtime/files.ts'
