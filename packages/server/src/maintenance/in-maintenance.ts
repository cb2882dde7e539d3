import type { HttpContext } from '../http/context.ts'
import { refused } from '../http/exchange.ts'
import type { Refused } from '../http/exchange.ts'
import { refusalOfPublish } from '../publishing/publish-refusal.ts'

/** Refuses changes while the store is under maintenance: a copy that is being made of it would lack them. */
export async function inMaintenance({ maintenance }: HttpContext): Promise<Refused | undefined> {
  const stopped = await maintenance.now()
  return stopped && refused(refusalOfPublish({ ...stopped, kind: 'maintenance' }))
}
