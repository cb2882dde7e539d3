/** A server of pictures, good and bad, that counts who asks for which. */
import { createServer } from 'node:http'
import { crc32, deflateSync } from 'node:zlib'

export interface PictureServer {
  readonly url: string
  /** How often each path was asked for. */
  readonly asked: ReadonlyMap<string, number>
  /** What is wrong with a picture for now, by its path: the server is too busy for it, or has a page in its place. */
  readonly faults: Map<string, 'busy' | 'page'>
  stop(): Promise<void>
}

/**
 * `/good-*.png` is a picture of its own colours, sent in chunks; so is `/house-*.png`, larger and with its length; `/changing-*.png` is another one each time. `/page.html`, `/drawing.svg.png`, `/large.png`, `/cut.png`, `/gone.png`, `/wide.png` (whose header
 * promises too many pixels) and `/empty.png` are what must not be kept.
 */
export async function startPictureServer(): Promise<PictureServer> {
  const asked = new Map<string, number>()
  const faults: PictureServer['faults'] = new Map()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const answer = (
      type: string,
      body: Uint8Array | string,
      headers: Readonly<Record<string, string>> = {},
    ) => {
      response.writeHead(200, { 'content-type': type, connection: 'close', ...headers })
      response.end(body)
    }
    const fault = faults.get(path)
    if (fault === 'busy') {
      response.writeHead(503, { connection: 'close' })
      return response.end('later')
    }
    if (fault === 'page') return answer('image/png', '<!doctype html>')
    if (path.startsWith('/good-')) return answer('image/png', picture(path, 320, 240))
    // Another picture each time that it is asked for.
    if (path.startsWith('/changing-'))
      return answer('image/png', picture(`${path} ${asked.get(path)}`, 320, 240))
    if (path.startsWith('/house-')) {
      const house = picture(path, 960, 720)
      return answer('image/png', house, { 'content-length': String(house.length) })
    }
    if (path === '/page.html') return answer('image/png', '<!doctype html><script>alert(1)</script>')
    if (path === '/drawing.svg.png')
      return answer('image/png', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    if (path === '/large.png')
      return answer('image/png', Buffer.concat([picture(path, 64, 64), Buffer.alloc(9 * 2 ** 20)]))
    if (path === '/wide.png') return answer('image/png', header(100_000, 100_000))
    if (path === '/empty.png') return answer('image/png', '')
    if (path === '/cut.png') {
      response.writeHead(200, {
        'content-type': 'image/png',
        'content-length': '100000',
        connection: 'close',
      })
      response.write(picture(path, 64, 64).subarray(0, 100))
      setTimeout(() => response.destroy(), 50)
      return
    }
    response.writeHead(404, { connection: 'close' })
    response.end('no')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    faults,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A drawing of a house in colours that follow from the name. */
export function picture(name: string, width: number, height: number): Buffer {
  const shade = crc32(name)
  const sky = [150 + (shade & 63), 180 + ((shade >> 6) & 63), 235]
  const wall = [160 + ((shade >> 12) & 63), 110 + ((shade >> 18) & 63), 90]
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows.set(colourAt(x / width, y / height, sky, wall), y * (1 + width * 3) + 1 + x * 3)
    }
  }
  return Buffer.concat([
    header(width, height),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function colourAt(x: number, y: number, sky: readonly number[], wall: readonly number[]): readonly number[] {
  const isRoof = y > 0.25 && y < 0.5 && Math.abs(x - 0.5) < (y - 0.25) * 1.4
  const isWall = y >= 0.5 && y < 0.85 && Math.abs(x - 0.5) < 0.3
  const isWindow = isWall && y > 0.58 && y < 0.7 && (Math.abs(x - 0.35) < 0.05 || Math.abs(x - 0.65) < 0.05)
  const isDoor = isWall && y > 0.62 && Math.abs(x - 0.5) < 0.05
  if (isRoof) return [120, 50, 45]
  if (isWindow) return [250, 245, 200]
  if (isDoor) return [60, 70, 110]
  if (isWall) return wall
  return y > 0.8 ? [90, 150, 80] : sky
}

function header(width: number, height: number): Buffer {
  const facts = Buffer.alloc(13)
  facts.writeUInt32BE(width, 0)
  facts.writeUInt32BE(height, 4)
  facts.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', facts)])
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
