import type { Complaint } from './advice-rules.ts'

/** Degrees in which the United Kingdom and the Channel Islands lie. */
const north = { from: 49, to: 61 }
const east = { from: -9, to: 2 }

/** What is odd about a position as a whole; numbers out of range are remarked on by themselves. */
export function positionTogether({
  latitude,
  longitude,
}: Readonly<Record<string, unknown>>): readonly (readonly [string, Complaint])[] {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return []
  if (latitude === 0 && longitude === 0)
    return about('and longitude are 0, off Africa: the position is not shown')
  if (isIn(latitude, east) && isIn(longitude, north)) {
    return about(`and longitude are probably exchanged: ${latitude} north, ${longitude} east were sent`)
  }
  return []
}

function isIn(degrees: number, { from, to }: typeof north): boolean {
  return degrees >= from && degrees <= to
}

function about(message: string): readonly (readonly [string, Complaint])[] {
  return [['latitude', { code: 'bad_position', message }]]
}
