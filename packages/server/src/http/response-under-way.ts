import type { Socket } from 'node:net'
import { ServerResponse } from '../node-http.ts'

/** The answer that a socket is at; it may not have been begun. */
export function responseUnderWay(socket: Socket): InstanceType<typeof ServerResponse> | undefined {
  const message: unknown = Object.getOwnPropertyDescriptor(socket, '_httpMessage')?.value
  return message instanceof ServerResponse ? message : undefined
}
