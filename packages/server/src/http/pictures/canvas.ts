/** A small drawing area of flat colours, and its PNG (RFC 2083), for the drawings of the demo. */
import { crc32, deflateSync } from 'node:zlib'

export type Point = readonly [x: number, y: number]

/** Colours are written `#rrggbb`; there can be at most 256 of them. Whatever is outside the area is left out. */
export interface Canvas {
  rectangle(colour: string, x: number, y: number, width: number, height: number): void
  polygon(colour: string, points: readonly Point[]): void
  ellipse(colour: string, x: number, y: number, radiusX: number, radiusY: number): void
  png(): Buffer
}

export function createCanvas(width: number, height: number): Canvas {
  const pixels = new Uint8Array(width * height)
  const palette = new Map<string, number>()

  const indexOf = (colour: string): number => {
    const known = palette.get(colour)
    if (known !== undefined) return known
    if (palette.size === 256) throw new RangeError('A canvas has at most 256 colours')
    palette.set(colour, palette.size)
    return palette.size - 1
  }
  const row = (index: number, y: number, from: number, to: number): void => {
    if (y < 0 || y >= height) return
    const start = Math.max(0, Math.round(from))
    const end = Math.min(width, Math.round(to))
    if (end > start) pixels.fill(index, y * width + start, y * width + end)
  }

  return {
    rectangle(colour, x, y, wide, high) {
      const index = indexOf(colour)
      for (let line = Math.round(y); line < Math.round(y + high); line += 1) row(index, line, x, x + wide)
    },
    polygon(colour, points) {
      const index = indexOf(colour)
      const tops = points.map(([, y]) => y)
      for (let y = Math.floor(Math.min(...tops)); y <= Math.max(...tops); y += 1) {
        const crossings = crossingsAt(points, y + 0.5)
        for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
          row(index, y, crossings[pair] ?? 0, crossings[pair + 1] ?? 0)
        }
      }
    },
    ellipse(colour, x, y, radiusX, radiusY) {
      const index = indexOf(colour)
      for (let line = Math.ceil(y - radiusY); line <= y + radiusY; line += 1) {
        const half = radiusX * Math.sqrt(Math.max(0, 1 - ((line - y) / radiusY) ** 2))
        row(index, line, x - half, x + half)
      }
    },
    png: () => encode(pixels, [...palette.keys()], width, height),
  }
}

/** Where a horizontal line crosses the outline, from left to right. */
function crossingsAt(points: readonly Point[], y: number): number[] {
  const crossings: number[] = []
  let [beforeX, beforeY] = points.at(-1) ?? [0, 0]
  for (const [x, nextY] of points) {
    if (beforeY > y !== nextY > y) crossings.push(x + ((y - nextY) / (beforeY - nextY)) * (beforeX - x))
    beforeX = x
    beforeY = nextY
  }
  return crossings.sort((one, other) => one - other)
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

function encode(
  pixels: Uint8Array,
  palette: readonly string[],
  width: number,
  height: number,
): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // Eight bits a pixel, each the number of a colour.
  head.set([8, 3, 0, 0, 0], 8)
  // Each row begins with its filter, which is none.
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.map((colour) => colour.slice(1)).join(''), 'hex')),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(content.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(crc32(named), named.length + 4)
  return framed
}
