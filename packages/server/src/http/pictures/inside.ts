/** The rooms of a home. */
import type { Canvas } from './canvas.ts'
import type { Look } from './look.ts'

/** Where the floor meets the wall, from the top. */
const skirting = 330

/** A sofa, a rug, a picture on the wall. */
export function drawReception(canvas: Canvas, look: Look, name: string): void {
  drawRoom(canvas, look, name)
  canvas.ellipse(look.trim, 320, 426, 210, 34)
  canvas.rectangle(look.fabric, 190, 270, 240, 60)
  canvas.rectangle(look.fabric, 176, 312, 268, 84)
  for (const x of [186, 322]) canvas.rectangle(look.paint, x + 8, 318, 104, 34)
  canvas.rectangle('#4b3a2d', 262, 130, 116, 84)
  canvas.rectangle('#e8d9b8', 270, 138, 100, 68)
  canvas.ellipse(look.fabric, 320, 180, 34, 18)
}

/** A table with chairs. */
export function drawDining(canvas: Canvas, look: Look, name: string): void {
  drawRoom(canvas, look, name)
  canvas.rectangle('#3f3f3f', 318, 0, 4, 120)
  canvas.ellipse('#d9b64a', 320, 128, 54, 22)
  for (const x of [170, 430]) {
    canvas.rectangle(look.fabric, x, 268, 42, 76)
    canvas.rectangle('#5a4332', x + 2, 344, 6, 66)
    canvas.rectangle('#5a4332', x + 34, 344, 6, 66)
  }
  canvas.polygon('#7b5a3c', [
    [210, 322],
    [430, 322],
    [466, 362],
    [174, 362],
  ])
  for (const x of [196, 434]) canvas.rectangle('#6a4c32', x, 362, 10, 82)
  for (const x of [270, 360]) canvas.ellipse('#f4efe6', x, 340, 24, 9)
}

/** Cupboards, a hob and a sink. */
export function drawKitchen(canvas: Canvas, look: Look, name: string): void {
  drawRoom(canvas, look, name, 255)
  const cupboard = ['#f1eee8', '#32475b', '#6f8466', '#d8d1c3'][look.choose('cupboard', 4)] ?? '#f1eee8'
  for (let unit = 0; unit < 6; unit += 1) {
    if (unit !== 2 && unit !== 3) canvas.rectangle(cupboard, unit * 107 + 3, 60, 101, 108)
    canvas.rectangle(cupboard, unit * 107 + 3, 276, 101, 128)
    canvas.rectangle('#b9b3a8', unit * 107 + 44, 286, 20, 4)
  }
  canvas.rectangle('#8b7355', 0, 258, 640, 18)
  canvas.rectangle('#3a3a3a', 232, 252, 84, 6)
  canvas.rectangle('#2b2b2b', 220, 290, 96, 76)
  canvas.rectangle('#565656', 230, 304, 76, 48)
  canvas.rectangle('#c3cbd0', 440, 250, 96, 10)
  canvas.rectangle('#9aa5ab', 486, 216, 6, 36)
}

/** A bed between two lamps. */
export function drawBedroom(canvas: Canvas, look: Look, name: string): void {
  drawRoom(canvas, look, name)
  canvas.rectangle('#6d5139', 196, 216, 248, 120)
  canvas.rectangle('#f7f4ee', 206, 292, 228, 112)
  canvas.polygon(look.fabric, [
    [206, 336],
    [434, 336],
    [462, 440],
    [178, 440],
  ])
  for (const x of [222, 332]) canvas.rectangle('#ffffff', x, 280, 88, 42)
  for (const x of [132, 468]) {
    canvas.rectangle('#7b5a3c', x, 330, 44, 66)
    canvas.rectangle('#5a5a5a', x + 20, 292, 4, 38)
    canvas.polygon('#f2dfae', [
      [x + 2, 296],
      [x + 42, 296],
      [x + 32, 262],
      [x + 12, 262],
    ])
  }
}

/** Tiles, a bath or a shower, a basin. */
export function drawBathroom(canvas: Canvas, look: Look, name: string): void {
  canvas.rectangle('#e8eef0', 0, 0, 640, 480)
  for (let line = 0; line < 12; line += 1) {
    canvas.rectangle('#d3dde1', line * 56, 0, 2, skirting)
    canvas.rectangle('#d3dde1', 0, line * 40, 640, line * 40 < skirting ? 2 : 0)
  }
  canvas.rectangle('#9aa3a8', 0, skirting, 640, 150)
  if (name === 'bathroom') {
    canvas.rectangle('#ffffff', 60, 300, 280, 104)
    canvas.ellipse('#ffffff', 200, 404, 140, 22)
    canvas.rectangle('#b9c4c9', 84, 268, 6, 34)
  } else {
    canvas.rectangle('#cfe2ea', 70, 60, 200, 350)
    canvas.rectangle('#9fb4bd', 166, 60, 5, 350)
    canvas.ellipse('#aab6bb', 220, 96, 26, 8)
  }
  canvas.rectangle('#ffffff', 420, 268, 140, 34)
  canvas.rectangle('#f1f1f1', 474, 302, 32, 110)
  canvas.rectangle('#b6ccd6', 430, 110, 120, 120)
  canvas.rectangle('#d7e6ec', 438, 118, 104, 104)
  canvas.rectangle(look.fabric, 590, 230, 34, 96)
}

/** Stairs and a door. */
export function drawHall(canvas: Canvas, look: Look, name: string): void {
  canvas.rectangle(look.paint, 0, 0, 640, 480)
  drawFloor(canvas, look)
  for (let step = 0; step < 9; step += 1) {
    canvas.rectangle(look.fabric, 330 + step * 36, 400 - step * 38, 320, 12)
    canvas.rectangle('#f4efe6', 330 + step * 36, 412 - step * 38, 320, 26)
  }
  canvas.rectangle(look.trim, 92, 120, 130, 236)
  canvas.rectangle(look.door, 102, 130, 110, 226)
  canvas.rectangle(look.glass, 122, 146, 70, 60)
  canvas.ellipse('#d9b64a', 198, 256, 5, 5)
  if (name === 'landing') canvas.rectangle('#8a6a4d', 0, 300, 330, 8)
}

/** A desk with shelves. */
export function drawStudy(canvas: Canvas, look: Look, name: string): void {
  drawRoom(canvas, look, name, 470)
  const spines = ['#7b1e1e', '#1f3a5f', '#2f5d50', '#b08d2e', look.fabric]
  for (let shelf = 0; shelf < 3; shelf += 1) {
    canvas.rectangle('#6d5139', 40, 96 + shelf * 62, 180, 8)
    for (let book = 0; book < 11; book += 1)
      canvas.rectangle(
        spines[(book + shelf) % spines.length] ?? '#7b1e1e',
        46 + book * 15,
        60 + shelf * 62,
        12,
        36,
      )
  }
  canvas.rectangle('#7b5a3c', 270, 300, 260, 14)
  for (const x of [280, 510]) canvas.rectangle('#6a4c32', x, 314, 10, 110)
  canvas.rectangle('#2f3437', 350, 232, 104, 62)
  canvas.rectangle('#9db4c0', 356, 238, 92, 50)
  canvas.rectangle('#2f3437', 396, 294, 12, 8)
  canvas.rectangle(look.fabric, 372, 330, 60, 84)
}

/** `windowAt`: where the furniture leaves room for it; by default left or right, the same for the same name. */
function drawRoom(canvas: Canvas, look: Look, name: string, windowAt?: number): void {
  canvas.rectangle(look.paint, 0, 0, 640, 480)
  drawFloor(canvas, look)
  const x = windowAt ?? (look.choose(`window of ${name}`, 2) === 0 ? 40 : 470)
  canvas.rectangle('#ffffff', x - 8, 72, 146, 166)
  canvas.rectangle('#cfe4f2', x, 80, 130, 150)
  canvas.rectangle('#9fc07c', x, 186, 130, 44)
  canvas.ellipse('#7ba05b', x + 34, 182, 30, 26)
  canvas.rectangle('#ffffff', x + 62, 80, 5, 150)
  for (const side of [x - 26, x + 126]) canvas.rectangle(look.fabric, side, 62, 30, 196)
}

function drawFloor(canvas: Canvas, look: Look): void {
  canvas.rectangle('#ffffff', 0, skirting, 640, 12)
  canvas.rectangle(look.floor, 0, skirting + 12, 640, 150)
  for (let board = 0; board < 9; board += 1) {
    const x = board * 80 - 20
    canvas.polygon('#7d6a55', [
      [x, skirting + 12],
      [x + 2, skirting + 12],
      [320 + (x - 320) * 1.5 + 3, 480],
      [320 + (x - 320) * 1.5, 480],
    ])
  }
}
