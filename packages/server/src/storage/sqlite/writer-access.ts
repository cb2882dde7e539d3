/** Access to the writer for a thread that does not own it: requested and transferred through a port to the owner. */
import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { WriterAccess } from './writer-host.ts'

type OwnerMessage =
  | { readonly kind: 'connected'; readonly port: MessagePort }
  | { readonly kind: 'lost'; readonly cause: Error }

/** A port for another thread, to transfer to it, that gives access for as long as it lives. */
export function portToWriter(owner: WriterAccess): MessagePort {
  const { port1, port2 } = new MessageChannel()
  const send = (message: OwnerMessage, transfer: MessagePort[] = []): void =>
    port1.postMessage(message, transfer)
  const attached = owner.attach({
    connected: (port) => send({ kind: 'connected', port }, [port]),
    lost: (cause) => send({ kind: 'lost', cause }),
  })
  port1.on('message', () => attached.want())
  port1.on('close', () => attached.detach())
  // A thread that waits for no other may end: its own end of the port keeps it alive while a question is open.
  port1.unref()
  return port2
}

/** Access through such a port. */
export function accessThrough(port: MessagePort): WriterAccess {
  return {
    attach(client) {
      port.on('message', (message: OwnerMessage) => {
        if (message.kind === 'connected') client.connected(message.port)
        else client.lost(message.cause)
      })
      return { want: () => port.postMessage('want'), detach: () => port.close() }
    },
  }
}
