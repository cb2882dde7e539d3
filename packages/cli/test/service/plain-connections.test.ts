/** `--plain-connections`: who reads requests in plain form. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { speak } from '../../../server/test/support/raw-socket.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'

const root = temporaryFolder()
after(() => removeFolder(root))

describe('serve --plain-connections', () => {
  it('lets Node’s HTTP answer each request when it is off (D9)', async () => {
    const answers: string[] = []
    for (const more of [[], ['--plain-connections', 'off']]) {
      const running = await start(['serve', '--data', join(root, 'store'), ...more])
      // Without a host it is the last of its connection.
      const { text, status } = await speak(Number(new URL(running.line.url).port), 'GET / HTTP/1.1\r\n\r\n')
      assert.equal(status, 400)
      answers.push(text)
      await running.stop()
    }
    const [plain = '', byNode = ''] = answers
    // All that tells the one from the other: how they spell the header that ends the connection, and where.
    assert.match(plain, /^Connection: close\r$/m)
    assert.match(byNode, /^connection: close\r$/m)
  })
})
