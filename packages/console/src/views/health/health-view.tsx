/** The service itself: what is wrong with it, and its settings. */
import { Answer, Empty } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Table } from '../../parts/table.tsx'
import { readSettings } from '../../service/operations/records.ts'
import { readHealth } from '../../service/operations/tenants.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { findingsFirst, settingText } from './settings.ts'
import '../records.css'
import './health.css'

const askAgainMs = 10_000

export function HealthView() {
  const health = useAnswer(readHealth(), { everyMs: askAgainMs })
  const settings = useAnswer(readSettings())
  return (
    <article class="health">
      <h1>Health</h1>
      <section>
        <h2>Checks</h2>
        <Answer of={health} what="the health checks">
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No health checks." />
            ) : (
              <ul class="findings">
                {findingsFirst(items).map(({ check, status, detail, remedy }) => (
                  <li key={check} class={status}>
                    <strong>
                      <Icon name={status === 'ok' ? 'good' : 'attention'} /> {check}
                    </strong>{' '}
                    <span class="unseen">{status}</span> {detail}
                    {remedy !== null && <p>{remedy}</p>}
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
      <section>
        <h2>Settings</h2>
        <Answer of={settings} what="the settings">
          {({ items }) => (
            <Table
              caption="Settings of this node"
              columns={[
                { name: 'Setting', isName: true, cell: ({ name }) => name },
                { name: 'Value', cell: ({ value }) => <code>{settingText(value)}</code> },
                { name: 'Source', cell: ({ source }) => source },
                { name: 'Variable', isWide: true, cell: ({ variable }) => <code>{variable}</code> },
              ]}
              rows={items}
              keyOf={({ name }) => name}
            />
          )}
        </Answer>
      </section>
    </article>
  )
}
