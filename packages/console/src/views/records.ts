/** Tables of what administration looks at, most of them small: one file of the built console. */
export { AuditView } from './audit/audit-view.tsx'
export { ConsumersView } from './consumers/consumers-view.tsx'
export { ErasuresView } from './erasures/erasures-view.tsx'
export { KeysView } from './keys/keys-view.tsx'
export { PublicationsView } from './publications/publications-view.tsx'
export { WebhooksView } from './webhooks/webhooks-view.tsx'
export { HealthView } from './health/health-view.tsx'
