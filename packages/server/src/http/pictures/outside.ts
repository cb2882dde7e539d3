/** A home from outside: from the street, from the garden, and what is seen from it. */
import type { Canvas } from './canvas.ts'
import type { Look } from './look.ts'

/** Where the ground begins, from the top. */
const ground = 352

/** From the street. */
export function drawFront(canvas: Canvas, look: Look): void {
  drawSky(canvas, look)
  canvas.rectangle('#7fa05a', 0, ground, 640, 60)
  canvas.rectangle('#c9c3b8', 0, 412, 640, 18)
  canvas.rectangle('#6f7175', 0, 430, 640, 50)
  const building = drawBuilding(canvas, look)
  const doorAt = look.form === 'flats' ? 320 : building.left + building.width * 0.5
  canvas.polygon('#d6cbb8', [
    [doorAt - 22, ground],
    [doorAt + 22, ground],
    [doorAt + 52, 412],
    [doorAt - 52, 412],
  ])
  drawDoor(canvas, look, doorAt)
  drawTree(canvas, 70, ground + 14, 46 + look.choose('tree', 24))
  if (look.choose('second tree', 2) === 0) drawTree(canvas, 580, ground + 20, 40 + look.choose('size', 20))
  for (let bush = 0; bush < 4; bush += 1)
    canvas.ellipse('#5c7f42', building.left + 18 + bush * 26, ground + 4, 18, 13)
}

/** From the garden. */
export function drawRear(canvas: Canvas, look: Look): void {
  drawSky(canvas, look)
  drawBuilding(canvas, look)
  canvas.rectangle('#84a95f', 0, ground, 640, 128)
  canvas.rectangle('#bcae97', 150, ground, 340, 38)
  // Doors to the garden.
  canvas.rectangle(look.trim, 262, 258, 116, 94)
  for (const x of [268, 323]) canvas.rectangle(look.glass, x, 264, 49, 88)
  drawFence(canvas)
  drawTree(canvas, 570, ground + 40, 58)
}

/** The lawn with its beds. */
export function drawGarden(canvas: Canvas, look: Look): void {
  drawSky(canvas, look)
  canvas.rectangle('#8fb46a', 0, 250, 640, 230)
  for (let stripe = 0; stripe < 4; stripe += 1) {
    const x = 60 + stripe * 150
    canvas.polygon('#84a95f', [
      [x + 40, 250],
      [x + 90, 250],
      [x + 110, 480],
      [x - 10, 480],
    ])
  }
  drawFence(canvas)
  canvas.ellipse('#6b5138', 90, 420, 170, 46)
  const flowers = ['#d1495b', '#edae49', '#9d79bc', '#f2f2f2', look.fabric]
  for (let flower = 0; flower < 14; flower += 1) {
    const x = 10 + ((flower * 61) % 220)
    canvas.ellipse('#4e7a3a', x, 408 + ((flower * 17) % 34), 13, 10)
    canvas.ellipse(flowers[flower % flowers.length] ?? '#ffffff', x, 400 + ((flower * 17) % 34), 8, 8)
  }
  drawTree(canvas, 520, 360, 80)
  canvas.rectangle('#8a6a4d', 250, 214, 90, 66)
  canvas.polygon('#5d4636', [
    [240, 216],
    [350, 216],
    [295, 182],
  ])
}

/** A table outside. */
export function drawPatio(canvas: Canvas, look: Look): void {
  drawRear(canvas, look)
  canvas.rectangle('#cbbfa9', 0, 390, 640, 90)
  for (let tile = 0; tile < 8; tile += 1) canvas.rectangle('#b8ab94', tile * 80, 390, 3, 90)
  canvas.rectangle('#b8ab94', 0, 434, 640, 3)
  canvas.ellipse('#6d5a46', 320, 412, 84, 20)
  for (const x of [286, 354]) canvas.rectangle('#5a4a3a', x, 418, 7, 46)
  for (const x of [196, 444]) {
    canvas.rectangle(look.fabric, x - 26, 372, 52, 46)
    canvas.rectangle('#5a4a3a', x - 22, 418, 6, 40)
    canvas.rectangle('#5a4a3a', x + 16, 418, 6, 40)
  }
}

/** Over the roofs. */
export function drawView(canvas: Canvas, look: Look): void {
  drawSky(canvas, look)
  canvas.ellipse('#a9bfa0', 180, 330, 320, 110)
  canvas.ellipse('#93ad86', 520, 340, 300, 120)
  canvas.rectangle('#7f9a70', 0, 340, 640, 140)
  const walls = ['#c98a63', '#e6dcc6', '#b5654a', look.wall]
  for (let house = 0; house < 9; house += 1) {
    const x = house * 76 - 20
    const y = 360 + ((house * 37) % 46)
    canvas.rectangle(walls[house % walls.length] ?? '#c98a63', x, y, 62, 60)
    canvas.polygon(house % 2 === 0 ? look.roof : '#5a4a44', [
      [x - 6, y],
      [x + 68, y],
      [x + 31, y - 34],
    ])
    canvas.rectangle('#f4efe6', x + 12, y + 16, 14, 18)
    canvas.rectangle('#f4efe6', x + 38, y + 16, 14, 18)
  }
  canvas.rectangle('#6f8a60', 0, 440, 640, 40)
}

/** The home among its neighbours. */
export function drawStreet(canvas: Canvas, look: Look): void {
  drawSky(canvas, look)
  for (let house = 0; house < 5; house += 1) {
    const x = house * 132 - 20
    canvas.rectangle(house === 2 ? look.wall : '#c7a78a', x, 200, 124, 160)
    canvas.polygon(house === 2 ? look.roof : '#665349', [
      [x - 8, 200],
      [x + 132, 200],
      [x + 62, 138],
    ])
    for (const [windowX, windowY] of [
      [18, 222],
      [74, 222],
      [74, 290],
    ] as const) {
      drawWindow(canvas, look, x + windowX, windowY, 32, 42)
    }
    canvas.rectangle(house === 2 ? look.door : '#4a5560', x + 20, 288, 30, 72)
  }
  canvas.rectangle('#c9c3b8', 0, 360, 640, 30)
  canvas.polygon('#6f7175', [
    [0, 390],
    [640, 390],
    [640, 480],
    [0, 480],
  ])
  for (let dash = 0; dash < 5; dash += 1) canvas.rectangle('#e9e6df', dash * 140 + 20, 432, 70, 6)
  drawTree(canvas, 602, 372, 54)
}

function drawSky(canvas: Canvas, look: Look): void {
  const skies = ['#bcd9ee', '#c5def0', '#cfe4f2', '#d8e9f4', '#e2eef6']
  for (const [band, colour] of skies.entries()) canvas.rectangle(colour, 0, band * 96, 640, 96)
  const x = 90 + look.choose('cloud', 380)
  for (const [offset, width] of [
    [0, 46],
    [38, 60],
    [88, 40],
  ] as const) {
    canvas.ellipse('#f6fafc', x + offset, 70, width, 20)
  }
}

interface Building {
  readonly left: number
  readonly width: number
}

function drawBuilding(canvas: Canvas, look: Look): Building {
  const { form } = look
  const storeys = form === 'bungalow' ? 1 : form === 'flats' ? 4 : 2
  const width =
    form === 'terrace' ? 210 + look.breadth * 40 : form === 'flats' ? 420 : 300 + look.breadth * 110
  const left = 320 - width / 2
  const height = form === 'flats' ? 264 : storeys * 92 + 16
  const top = ground - height
  if (form === 'terrace') drawNeighbours(canvas, look, left, width, top)
  if (look.hasChimney && form !== 'flats') canvas.rectangle('#8d5a47', left + width * 0.72, top - 96, 34, 90)
  canvas.rectangle(look.wall, left, top, width, height)
  if (form === 'flats') canvas.rectangle(look.trim, left - 8, top - 10, width + 16, 14)
  else drawRoof(canvas, look, left, width, top)
  const columns = form === 'terrace' ? 2 : form === 'flats' ? 5 : 3
  for (let storey = 0; storey < storeys; storey += 1) {
    const y = top + 22 + storey * (form === 'flats' ? 64 : 94)
    for (let column = 0; column < columns; column += 1) {
      const x = left + (width / columns) * (column + 0.5)
      const isDoor = storey === storeys - 1 && Math.abs(x - 320) < 30
      if (!isDoor) drawWindow(canvas, look, x - 24, y, 48, form === 'flats' ? 40 : 58)
      if (form === 'flats' && !isDoor && column % 2 === 0) canvas.rectangle('#5f676d', x - 34, y + 40, 68, 9)
    }
  }
  if (look.hasBay && form !== 'flats') {
    const x = left + width / columns / 2
    canvas.rectangle(look.trim, x - 46, ground - 92, 92, 92)
    for (const offset of [-38, -12, 14]) canvas.rectangle(look.glass, x + offset, ground - 80, 24, 54)
  }
  return { left, width }
}

function drawRoof(canvas: Canvas, look: Look, left: number, width: number, top: number): void {
  const isHipped = look.choose('hip', 2) === 0
  const inset = isHipped ? width * 0.22 : 12
  canvas.polygon(look.roof, [
    [left - 18, top + 2],
    [left + inset, top - 78],
    [left + width - inset, top - 78],
    [left + width + 18, top + 2],
  ])
  canvas.rectangle(look.trim, left - 18, top, width + 36, 7)
}

function drawNeighbours(canvas: Canvas, look: Look, left: number, width: number, top: number): void {
  for (const x of [left - width, left + width]) {
    canvas.rectangle('#bfa58c', x, top, width, ground - top)
    canvas.rectangle('#6a5a50', x, top - 70, width, 72)
    for (const offset of [0.28, 0.72]) {
      drawWindow(canvas, look, x + width * offset - 22, top + 24, 44, 56)
      drawWindow(canvas, look, x + width * offset - 22, top + 118, 44, 56)
    }
  }
}

function drawWindow(canvas: Canvas, look: Look, x: number, y: number, width: number, height: number): void {
  canvas.rectangle(look.trim, x - 5, y - 5, width + 10, height + 10)
  canvas.rectangle(look.glass, x, y, width, height)
  canvas.polygon('#c7dde8', [
    [x, y],
    [x + width * 0.55, y],
    [x, y + height * 0.6],
  ])
  canvas.rectangle(look.trim, x + width / 2 - 1.5, y, 3, height)
  canvas.rectangle(look.trim, x, y + height / 2 - 1.5, width, 3)
}

function drawDoor(canvas: Canvas, look: Look, x: number): void {
  canvas.rectangle(look.trim, x - 28, 264, 56, 88)
  canvas.rectangle(look.door, x - 22, 270, 44, 82)
  canvas.rectangle(look.glass, x - 14, 278, 28, 20)
  canvas.ellipse('#d9b64a', x + 14, 316, 3, 3)
}

function drawTree(canvas: Canvas, x: number, foot: number, radius: number): void {
  canvas.rectangle('#6b4f38', x - 6, foot - radius * 1.4, 12, radius * 1.4)
  canvas.ellipse('#557d3f', x, foot - radius * 1.8, radius, radius * 0.95)
  canvas.ellipse('#658f4b', x - radius * 0.3, foot - radius * 2.05, radius * 0.6, radius * 0.5)
}

function drawFence(canvas: Canvas): void {
  for (let board = 0; board < 27; board += 1) {
    canvas.rectangle(board % 2 === 0 ? '#a5835e' : '#9a7955', board * 24, 292, 23, 66)
  }
}
