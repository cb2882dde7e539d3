/** `COPY … FROM STDIN` in the text format over a connection of `pg`, which has the messages but no function for it. */
import type { Client, Connection, Submittable } from 'pg'

/** Writes rows of texts; `undefined` is NULL. */
export async function copyIn(
  client: Client,
  command: string,
  rows: Iterable<readonly (string | undefined)[]>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.query(new Copy(command, rows, (error) => (error === undefined ? resolve() : reject(error))))
  })
}

interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

class Copy implements Submittable {
  readonly #command: string
  readonly #rows: Iterable<readonly (string | undefined)[]>
  readonly #done: (error: Error | undefined) => void
  #error: Error | undefined

  constructor(
    command: string,
    rows: Iterable<readonly (string | undefined)[]>,
    done: (error: Error | undefined) => void,
  ) {
    this.#command = command
    this.#rows = rows
    this.#done = done
  }

  submit(connection: Connection): void {
    connection.query(this.#command)
  }

  /** The server is ready for rows. */
  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection)
  }

  async #send(connection: CopyConnection): Promise<void> {
    let lines: string[] = []
    let length = 0
    for (const row of this.#rows) {
      const line = `${row.map(fieldOf).join('\t')}\n`
      lines.push(line)
      length += line.length
      if (length < chunkLength) continue
      connection.sendCopyFromChunk(Buffer.from(lines.join('')))
      lines = []
      length = 0
      if (connection.stream.writableLength > 8 * chunkLength) {
        await new Promise<void>((resolve) => connection.stream.once('drain', resolve))
      }
    }
    if (length > 0) connection.sendCopyFromChunk(Buffer.from(lines.join('')))
    connection.endCopyFrom()
  }

  handleError(error: Error): void {
    this.#error = error
    this.#done(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#done(undefined)
  }
}

const chunkLength = 2 ** 18

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function fieldOf(value: string | undefined): string {
  return value === undefined
    ? '\\N'
    : value.replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '')
}
