/** Our own histogram shows the same text as prom-client's. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AggregatorRegistry, Histogram, Registry } from 'prom-client'
import { ownHistogram } from '../../src/runtime/metrics/own-histogram.ts'

const options = { name: 'a_seconds', help: 'A.' }
const bounds = [0.001, 0.01, 2.5]
const observed = [0, 0.001, 0.0011, 0.01, 2.5, 2.6, 40, 0.5]

function sortedLines(text: string): readonly string[] {
  return text.trim().split('\n').toSorted()
}

async function textOf(...values: readonly object[]): Promise<readonly string[]> {
  return sortedLines(await AggregatorRegistry.aggregate([[...values]]).metrics())
}

it('shows every value in the bucket that prom-client shows it in, with and without a label', async () => {
  for (const label of ['outcome', undefined]) {
    const register = new Registry()
    const labelNames = label === undefined ? [] : [label]
    const theirs = new Histogram({ ...options, buckets: bounds, labelNames, registers: [register] })
    const own = ownHistogram({ ...options, bounds, ...(label === undefined ? {} : { label }) })
    for (const [index, value] of observed.entries()) {
      const of = index % 3 === 0 ? 'failed' : 'done'
      if (label === undefined) theirs.observe(value)
      else theirs.observe({ [label]: of }, value)
      own.observe(value, label && of)
    }
    const shown = await textOf(own.json())
    assert.deepEqual(shown, sortedLines(await register.metrics()))
    assert.ok(shown.length >= 8)
  }
})

it('shows an empty series where there is no label, as prom-client does', async () => {
  const register = new Registry()
  register.registerMetric(new Histogram({ ...options, buckets: bounds, registers: [] }))
  assert.deepEqual(
    await textOf(ownHistogram({ ...options, bounds }).json()),
    sortedLines(await register.metrics()),
  )
})
