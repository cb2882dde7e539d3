/** The operations on webhooks. */
import type { Operation } from '../../http/operation.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'
import { listTenantWebhooks, pauseTenantWebhook } from './admin-webhooks.ts'
import { addWebhookSecret, moveWebhook, resendToWebhook } from './webhook-cursor.ts'
import { listDeliveries, readWebhookWaiting } from './webhook-log.ts'
import type { WebhookContext } from './webhook-operation.ts'
import { testWebhook } from './webhook-test.ts'
import { changeWebhookSettings, createWebhook, deleteWebhook, getWebhook, listWebhooks } from './webhooks.ts'

export function webhookOperations(context: WebhookContext): readonly Operation[] {
  return [
    createWebhook(context),
    listWebhooks(context),
    getWebhook(context),
    changeWebhookSettings(context),
    deleteWebhook(context),
    addWebhookSecret(context),
    testWebhook(context),
    moveWebhook(context),
    resendToWebhook(context),
    listDeliveries(context),
    readWebhookWaiting(context),
  ]
}

export function adminWebhookOperations(context: WebhookContext & TenantContext): readonly Operation[] {
  return [listTenantWebhooks(context), pauseTenantWebhook(context)]
}
