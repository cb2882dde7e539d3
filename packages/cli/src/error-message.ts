import { sep } from 'node:path'
import { NetworkError, PropertyEventsError, ServiceError } from '@property-events/client'
import { Refusal } from './refusal.ts'
import { plainText } from './terminal-text.ts'
import { commandLine } from './program-name.ts'

/**
 * The message for the user about an error: what went wrong and what to do, without a stack. `dataFolder`: the folder of
 * a command that has `--data`.
 */
export function errorMessage(error: unknown, dataFolder?: string): string {
  if (!(error instanceof Error)) return unexpected(String(error))
  if (error instanceof Refusal) return error.message
  // The refusals of the server and of the tables have a message for the operator.
  if (refusals.has(error.name)) return plainText(error.message, { multiline: true })
  if (error instanceof ServiceError && error.requestId !== undefined) return refusalSentence(error)
  if (error instanceof NetworkError && (error.code === 'network' || error.code === 'deadline'))
    return `${plainText(error.message).replace(/\.$/, '')}. Is the service running, and is PROPERTY_EVENTS_URL or --url right?`
  if (error instanceof PropertyEventsError) return plainText(error.message)
  if (error.name === 'StorageFailure') return failureSentence(error, dataFolder)
  return systemSentence(error, dataFolder) ?? unexpected(error.message)
}

const refusals: ReadonlySet<string> = new Set([
  'StorageRefusal',
  'PepperRefusal',
  'ErasureListFault',
  'CopyRefusal',
  'TablesRefusal',
])

/** With the faults and the details by which an operator can find the request, and without the request itself, which the user did not write. */
function refusalSentence({ message, detail, status, code, requestId }: ServiceError): string {
  const words = detail === undefined ? message : message.replace(/^[A-Z]+ \S+: /, '')
  return plainText(`${words} (${status}, ${code}, request ${requestId})`)
}

function unexpected(message: string): string {
  return `Something unexpected happened: ${plainText(message, { multiline: true })}. Run it with --debug to see where.`
}

function failureSentence(error: Error, dataFolder: string | undefined): string {
  const cause = error.cause instanceof Error ? ` (${plainText(error.cause.message)})` : ''
  switch ('code' in error ? error.code : undefined) {
    case 'storage_full':
      return `The disk is full, or the store has reached its size limit${cause}. Free some space or raise --max-bytes.`
    case 'storage_closed':
      return 'The store was closed while it was in use. Run the command again.'
    default:
      if (error.cause instanceof Error) {
        if (isUnreached(error.cause)) {
          return `The database cannot be reached${cause}. Check its address in --database, and that it runs.`
        }
        const sentence = systemSentence(error.cause, dataFolder)
        if (sentence !== undefined) return sentence
      }
      return `The store cannot be used${cause}. \`${commandLine('doctor')}\`, with the same --data or --database, finds the cause.`
  }
}

/** Whether a connection failed or was lost. The code alone does not show it: a socket's ENOENT is also that of a missing file. */
function isUnreached(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : ''
  return /^(ENOTFOUND|ECONN|ETIMEDOUT)/.test(code) || ('syscall' in error && error.syscall === 'connect')
}

/** The usual errors of the operating system, by their code. */
function systemSentence(error: Error, dataFolder: string | undefined): string | undefined {
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  const path = 'path' in error && typeof error.path === 'string' ? plainText(error.path) : 'the file'
  const choose = isWithin(dataFolder, error) ? 'choose another folder with --data' : 'name another path'
  const port = 'port' in error && typeof error.port === 'number' ? String(error.port) : 'asked for'
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} is taken. Stop the program that uses it, or choose another with --port (0 for any free one).`
    case 'EADDRNOTAVAIL':
      return 'This machine does not have the address to listen on. Choose another with --host, such as 127.0.0.1.'
    case 'ENOTFOUND':
      return 'The host name to listen on is unknown. Choose an address with --host, such as 127.0.0.1.'
    case 'EACCES':
    case 'EPERM':
      return 'port' in error
        ? `This user may not listen on port ${port}. Choose one above 1023 with --port.`
        : `This user may not use ${path}. Change its owner or permissions, or ${choose}.`
    case 'EROFS':
      return `${path} is on a read-only disk. Make it writable, or ${choose}.`
    case 'ENOENT':
      return `${path} does not exist. Check the spelling.`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path}, or a part of that path, is a file where a folder is needed. Choose another path.`
    case 'EISDIR':
      return `${path} is a folder, and a file is needed.`
    case 'ENOSPC':
    case 'EDQUOT':
      return 'The disk is full. Free some space and run the command again.'
    default:
      return undefined
  }
}

/** Whether the error is about a path in the folder. */
function isWithin(folder: string | undefined, error: Error): boolean {
  if (folder === undefined || !('path' in error) || typeof error.path !== 'string') return false
  return `${error.path}${sep}`.startsWith(`${folder}${sep}`)
}
