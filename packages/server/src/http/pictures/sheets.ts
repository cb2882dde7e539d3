/** What is drawn on paper: the plan of a floor, and the bars of an energy certificate. */
import type { Canvas } from './canvas.ts'
import type { Look } from './look.ts'

const ink = '#2f3437'

/** Walls, doors and a flight of stairs. */
export function drawFloorPlan(canvas: Canvas, look: Look): void {
  canvas.rectangle('#ffffff', 0, 0, 640, 480)
  canvas.rectangle(ink, 90, 60, 460, 360)
  canvas.rectangle('#f7f5f0', 100, 70, 440, 340)
  const across = 270 + look.choose('wall across', 100)
  const down = 200 + look.choose('wall down', 80)
  canvas.rectangle(ink, across, 70, 8, 340)
  canvas.rectangle(ink, 100, down, 440, 8)
  // Openings: rooms are entered through gaps in the walls.
  canvas.rectangle('#f7f5f0', across - 1, 100, 10, 46)
  canvas.rectangle('#f7f5f0', across - 1, 340, 10, 46)
  canvas.rectangle('#f7f5f0', 150, down - 1, 50, 10)
  canvas.rectangle('#f7f5f0', 430, down - 1, 50, 10)
  for (const [x, y, wide, high] of [
    [140, 60, 90, 10],
    [400, 60, 90, 10],
    [140, 410, 90, 10],
    [400, 410, 90, 10],
  ] as const) {
    canvas.rectangle('#a8c6d8', x, y, wide, high)
  }
  for (let step = 0; step < 8; step += 1)
    canvas.rectangle('#8a8f93', across + 24 + step * 14, down + 20, 3, 56)
  canvas.rectangle(look.fabric, 120, 90, 90, 34)
  canvas.rectangle(look.floor, 450, 340, 70, 52)
}

const bars = ['#0f7d3f', '#3fa535', '#9dcb3b', '#f3e600', '#f6b221', '#ec7a23', '#d8232a']

/** Seven bars, and a pointer to one of them. */
export function drawEnergyCertificate(canvas: Canvas, look: Look): void {
  canvas.rectangle('#ffffff', 0, 0, 640, 480)
  canvas.rectangle('#1d4f91', 0, 0, 640, 56)
  for (const [place, colour] of bars.entries()) {
    canvas.rectangle(colour, 60, 86 + place * 52, 130 + place * 34, 42)
  }
  for (const [column, name] of ['current', 'potential'].entries()) {
    const place = (column === 0 ? 2 : 1) + look.choose(name, 3)
    const x = 450 + column * 90
    const y = 86 + place * 52
    canvas.polygon(bars[place] ?? '#000000', [
      [x, y + 21],
      [x + 18, y],
      [x + 76, y],
      [x + 76, y + 42],
      [x + 18, y + 42],
    ])
  }
}
