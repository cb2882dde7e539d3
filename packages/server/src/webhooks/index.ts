/** For `listen`, which sends as the service will. An entry of its own: a service that sends none yet does not load it. */
export { EndpointPlan } from './plan.ts'
export type { DeliveryMode } from './waiting-rows.ts'
export { eventMessage, messageHeaders } from './message.ts'
export type { DeliveredEvent } from './message.ts'
export { addressCheck } from './receiver-address.ts'
export { outcomeOf, receiverAt } from './receiver.ts'
export type { Receiver, ReceiverAnswer } from './receiver.ts'
export { newSecret } from './secret.ts'
