/** Metrics of the requests and answers that a node holds. */
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/** See `http/bytes-in-flight.ts`. */
export interface InFlightState {
  readonly bytes: number
  readonly refused: Readonly<Record<string, number>>
}

/** `state` is called at each scrape. */
export function addInFlight(register: Registry, state: () => InFlightState): void {
  const bytes: Gauge = new Gauge({
    name: 'property_events_in_flight_bytes',
    help: 'Bytes of bodies that are being received or published, and of answers that their readers have not taken.',
    registers: [register],
    collect: () => bytes.set(state().bytes),
  })
  const refusals: Counter<'use'> = new Counter({
    name: 'property_events_in_flight_refusals_total',
    help: 'Requests refused with overloaded because there was no room for their bytes, by what they were for.',
    labelNames: ['use'],
    registers: [register],
    collect() {
      refusals.reset()
      for (const [use, count] of Object.entries(state().refused)) refusals.inc({ use }, count)
    },
  })
}
