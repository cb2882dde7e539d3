import { createReadStream } from 'node:fs'

/**
 * The lines of a file, ended by `
 * ` and nothing else: `node:readline` also ends them at U+2028 and U+2029, which occur unescaped in JSON texts. The last line need not be
 * ended. Rejects with the machine's error.
 */
export async function* fileLines(path: string): AsyncGenerator<string> {
  const chunks: AsyncIterable<string> = createReadStream(path, 'utf8')
  let rest = ''
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n')
    rest += first
    for (const line of others) {
      yield rest
      rest = line
    }
  }
  if (rest !== '') yield rest
}
