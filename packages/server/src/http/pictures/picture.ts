/**
 * Drawings in place of the photographs of invented homes, so that a demo shows pictures without another host. An address names the form
 * of the building, the reference of the home and the subject of the picture; the same address gives the same bytes for ever.
 */
import { BoundedMap } from '../../bounded-map.ts'
import { createCanvas } from './canvas.ts'
import type { Canvas } from './canvas.ts'
import {
  drawBathroom,
  drawBedroom,
  drawDining,
  drawHall,
  drawKitchen,
  drawReception,
  drawStudy,
} from './inside.ts'
import { forms, lookOf } from './look.ts'
import type { Look } from './look.ts'
import { drawFront, drawGarden, drawPatio, drawRear, drawStreet, drawView } from './outside.ts'
import { drawEnergyCertificate, drawFloorPlan } from './sheets.ts'

type Draw = (canvas: Canvas, look: Look, scene: string) => void

/** Scenes by the words of an address. */
const scenes: ReadonlyMap<string, Draw> = new Map<string, Draw>([
  ['front', drawFront],
  ['street-scene', drawStreet],
  ['rear-elevation', drawRear],
  ['garden', drawGarden],
  ['patio', drawPatio],
  ['view', drawView],
  ['reception-room', drawReception],
  ['living-room', drawReception],
  ['dining-room', drawDining],
  ['kitchen', drawKitchen],
  ['kitchen-diner', drawKitchen],
  ['principal-bedroom', drawBedroom],
  ['bedroom-two', drawBedroom],
  ['bedroom-three', drawBedroom],
  ['bathroom', drawBathroom],
  ['shower-room', drawBathroom],
  ['en-suite', drawBathroom],
  ['hallway', drawHall],
  ['landing', drawHall],
  ['study', drawStudy],
  ['floor-plan', drawFloorPlan],
  ['epc', drawEnergyCertificate],
])

/** `01-front-1f2e3d4c.png`: its place, its subject, and a part that makes the address of a new photograph new. */
const namePattern = /^\d{1,3}-([a-z]+(?:-[a-z]+)*?)(?:-[0-9a-f]{8})?\.png$/
const referencePattern = /^[A-Za-z0-9_-]{1,60}$/

/** Of about 5 kB each. With 4 forms, 24 looks and 22 scenes there are 2,112 in all. */
const keptPictures = 600

const kept = new BoundedMap<string, Buffer>(keptPictures)

/** The PNG of an address, or `undefined` if the address names nothing that can be drawn. Drawing takes some milliseconds, once. */
export function pictureOf(formName: string, reference: string, name: string): Buffer | undefined {
  const form = forms.find((one) => one === formName)
  const [, scene = ''] = namePattern.exec(name) ?? []
  const draw = scenes.get(scene)
  if (form === undefined || draw === undefined || !referencePattern.test(reference)) return undefined
  const look = lookOf(form, reference)
  const key = `${form} ${look.number} ${scene}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const canvas = createCanvas(640, 480)
  draw(canvas, look, scene)
  const bytes = canvas.png()
  kept.set(key, bytes)
  return bytes
}
