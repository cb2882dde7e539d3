/** Makes keys, and verifies the key of a request. */
export * from './key-issuer.ts'
export * from '../tenants/import-tenants.ts'
export * from './issue.ts'
export * from './pepper-fit.ts'
export * from './pepper.ts'
export * from './verify.ts'
