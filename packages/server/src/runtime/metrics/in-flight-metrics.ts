/** Metrics of the requests and answers that a node holds. */
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/** See `http/bytes-in-flight.ts`. */
export interface InFlightState {
  readonly bytes: number
  /** Of resident memory of the process: the same in every thread. 0: none. */
  readonly limitBytes: number
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
  const limit: Gauge = new Gauge({
    name: 'property_events_memory_limit_bytes',
    help: 'Resident memory above which nothing large is accepted, and memory is given back; 0 if there is no limit.',
    aggregator: 'max',
    registers: [register],
    collect: () => limit.set(state().limitBytes),
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
