/** Alerts, dashboard and runbooks: they name metrics that a service has, and each alert says what to do. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { blocksIn, textOf } from '../support/documents.ts'
import { openDocumentShell } from '../support/document-shell.ts'
import type { DocumentShell } from '../support/document-shell.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const { groups } = parse(textOf('deploy/prometheus/alerts.yml')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(textOf('deploy/grafana/dashboard.json')) as { readonly panels: readonly Panel[] }
const expressions = [
  ...rules.map(({ alert, expr }) => ({ of: alert, expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    // As Grafana sends them.
    targets.map(({ expr }) => ({ of: title, expr: expr.replaceAll('$__rate_interval', '5m') })),
  ),
]

/** What Prometheus adds by itself. */
const ofPrometheus = { metrics: ['up'], labels: ['job', 'instance', 'le'] }

interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** The metrics that an expression selects with the labels it selects them by, and the labels it groups by. Throws where it is none. */
function namesIn(expr: string): {
  readonly selectors: readonly Selector[]
  readonly grouping: readonly string[]
} {
  const selectors: { metric: string; labels: string[] }[] = []
  const grouping: string[] = []
  parser.parse(expr).iterate({
    enter({ name, from, to, type, node }) {
      const text = expr.slice(from, to)
      assert.ok(!type.isError, `${expr} is no PromQL at ${from}`)
      if (name === 'VectorSelector') selectors.push({ metric: /^\w+/.exec(text)?.[0] ?? '', labels: [] })
      if (name === 'LabelName')
        (node.parent?.name === 'GroupingLabels' ? grouping : selectors.at(-1)?.labels)?.push(text)
    },
  })
  assert.ok(selectors.length > 0, expr)
  return { selectors, grouping }
}

interface Metric {
  /** Of all its series so far; where there are none, as of PostgreSQL on SQLite, those that docs/metrics.md names. */
  readonly labels: ReadonlySet<string>
}

/** A column such as: gauge: `pool` (`reading`, …), `state` (…). Values stand in brackets. */
function labelsInDocument(metric: string): ReadonlySet<string> {
  const row = textOf('docs/metrics.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${metric.replace(/_(?:bucket|sum|count)$/, '')}\` |`))
  const outside = (row?.split(' | ')[1] ?? '').replaceAll(/\(.*?\)/g, '')
  return new Set([...outside.matchAll(/`(\w+)`/g)].map(([, label]) => label ?? ''))
}

/** By the names that can be asked for: a histogram has three. */
function metricsIn(text: string): ReadonlyMap<string, Metric> {
  const found = new Map<string, Metric>()
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name]
    for (const one of names) {
      const series = [...text.matchAll(new RegExp(`^${one}(?:\\{(.*)\\})? `, 'gm'))]
      const labels = series.flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)="/g)].map(([, label]) => label ?? ''),
      )
      found.set(one, { labels: series.length === 0 ? labelsInDocument(one) : new Set(labels) })
    }
  }
  return found
}

/** The section of an alert, from its heading to the next one. */
function runbookOf(alert: string): string {
  return textOf('docs/runbooks.md').split(`\n## ${alert}\n`)[1]?.split('\n## ')[0] ?? ''
}

function blockIn(alert: string, language: string): string {
  const [block, ...more] = blocksIn('docs/runbooks.md', runbookOf(alert)).filter(
    (one) => one.language === language,
  )
  assert.ok(block, `${alert} has a block of ${language}`)
  assert.deepEqual(more, [], alert)
  return block.text.trim()
}

const byText = (one: string, other: string): number => one.localeCompare(other)

let shell: DocumentShell
let metrics: ReadonlyMap<string, Metric>

before(async () => {
  shell = await openDocumentShell()
  // Something of each kind, so that there are series to compare labels with.
  await shell.run(
    'curl -s "$PROPERTY_EVENTS_URL/v1/heads" && curl -s -H "x-api-key: $PROPERTY_EVENTS_KEY" "$PROPERTY_EVENTS_URL/v1/heads"',
  )
  const { code, output } = await shell.run('curl -s "$METRICS"')
  assert.equal(code, 0, output)
  metrics = metricsIn(output)
})

after(() => shell.close())

describe('alerts and dashboard', () => {
  it('ask in PromQL for metrics that a service has, by labels that these have', () => {
    assert.ok(expressions.length > 40)
    for (const { of, expr } of expressions) {
      const { selectors, grouping } = namesIn(expr)
      const all = new Set(ofPrometheus.labels)
      for (const { metric, labels } of selectors) {
        if (ofPrometheus.metrics.includes(metric)) continue
        const known = metrics.get(metric)
        assert.ok(known, `${of}: no metric ${metric}`)
        for (const label of known.labels) all.add(label)
        for (const label of labels)
          assert.ok(
            known.labels.has(label) || ofPrometheus.labels.includes(label),
            `${of}: ${metric} has no label ${label}`,
          )
      }
      for (const label of grouping)
        assert.ok(all.has(label), `${of}: nothing has a label ${label} to group by`)
    }
  })

  it('would fail if they asked for a metric that does not exist: this test can fail', () => {
    assert.deepEqual(labelsInDocument('property_events_store_connections'), new Set(['pool', 'state']))
    assert.deepEqual(labelsInDocument('property_events_commit_duration_seconds_bucket'), new Set(['outcome']))
    assert.equal(metrics.has('property_events_missing_nmubers'), false)
    assert.throws(() => namesIn('sum by (job (up)'), /no PromQL/)
    assert.deepEqual(namesIn('sum by (f) (a_bucket{b="c"}) / on (d) e'), {
      selectors: [
        { metric: 'a_bucket', labels: ['b'] },
        { metric: 'e', labels: [] },
      ],
      grouping: ['f', 'd'],
    })
  })

  it('are rules that Prometheus accepts: named once, with a time, a severity, words and a runbook', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const rule of rules) {
      assert.deepEqual(Object.keys(rule), ['alert', 'expr', 'for', 'labels', 'annotations'])
      assert.match(rule.alert, /^PropertyEvents[A-Z]\w+$/)
      assert.match(rule.for, /^\d+[mh]$/)
      assert.match(rule.labels.severity, /^(?:page|ticket)$/)
      assert.equal(rule.annotations.runbook, `docs/runbooks.md#${rule.alert.toLowerCase()}`)
      for (const [, field] of rule.annotations.summary.matchAll(/\{\{ (.*?) \}\}/g))
        assert.match(field ?? '', /^\$(?:labels\.\w+|value(?: \| humanize\w*)?)$/, rule.alert)
    }
  })

  it('show panels side by side, each with its own id', () => {
    const { panels } = dashboard
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    const places = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      assert.ok(x + w <= 24, title)
      return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`)
    })
    assert.equal(new Set(places).size, places.length)
  })
})

describe('the runbooks', () => {
  it('cover each alert and no other, each with the symptoms, what to do and when to wake somebody', () => {
    const headings = [...textOf('docs/runbooks.md').matchAll(/^## (.*)$/gm)].map(
      ([, heading = '']) => heading,
    )
    assert.deepEqual(headings.toSorted(byText), rules.map(({ alert }) => alert).toSorted(byText))
    for (const { alert, labels } of rules) {
      const parts = [...runbookOf(alert).matchAll(/^\*\*(.*?)\*\* (.*)$/gm)]
      assert.deepEqual(
        parts.map(([, name]) => name),
        ['Symptom.', 'Fix.', 'Wake somebody?'],
        alert,
      )
      const [, , wake] = parts.map(([, , text]) => text ?? '')
      assert.match(wake ?? '', labels.severity === 'page' ? /^Yes/ : /^No/, alert)
    }
  })

  for (const { alert } of rules) {
    it(`has commands for ${alert} that run and print what the runbook shows for a healthy service`, async () => {
      const { code, output } = await shell.run(blockIn(alert, 'sh'))
      assert.equal(code, 0, output)
      for (const expected of blockIn(alert, 'text').split('\n')) {
        const pattern = expected
          .split('…')
          .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/ +/g, ' +'))
          .join('.*')
        assert.match(output, new RegExp(`^${pattern}$`, 'm'), expected)
      }
    })
  }
})
