/** How one key was used: by day, operation and status. */
import { Answer, Empty } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Table } from '../../parts/table.tsx'
import type { Key } from '@property-events/protocol/wire'
import { readUsage } from '../../service/operations/keys.ts'
import { useAnswer } from '../../service/use-answer.ts'
import { now } from '../../state/clock.ts'
import { countText } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'
import { dayText, usageDays, usagePoints, usageRows, usageWords } from './usage.ts'
import type { UsageDay } from './usage.ts'

interface Props {
  readonly keyToShow: Key
  readonly onClose: () => void
}

export function UsageDialog({ keyToShow: { keyId, label }, onClose }: Props) {
  const usage = useAnswer(readUsage(keyId))
  return (
    <Dialog title={`Usage of ${oneLine(label, 80) || keyId}`} onClose={onClose}>
      <Answer of={usage} what="its usage">
        {(value) =>
          value.items.length === 0 ? (
            <Empty title="Not used in the last 30 days." />
          ) : (
            <div class="use">
              <Days days={usageDays(value.items, now.value)} />
              <Table
                caption="Requests by operation and status"
                columns={[
                  { name: 'Operation', isName: true, cell: ({ operation }) => operation },
                  { name: 'Status', isNumber: true, cell: ({ status }) => status },
                  { name: 'Requests', isNumber: true, cell: ({ requests }) => countText(requests) },
                  { name: 'kB', isNumber: true, cell: ({ bytes }) => countText(Math.round(bytes / 1_000)) },
                ]}
                rows={usageRows(value.items)}
                keyOf={({ operation, status }) => `${operation} ${status}`}
                classOf={({ status }) => (status >= 400 ? 'refused' : undefined)}
              />
            </div>
          )
        }
      </Answer>
    </Dialog>
  )
}

function Days({ days }: { readonly days: readonly UsageDay[] }) {
  const words = usageWords(days)
  const times = [0, 10, 20].map((n) => ({
    at: n / days.length,
    text: dayText(days[n]?.day ?? '', now.value),
  }))
  return (
    <>
      <p>{words}</p>
      <Chart
        kind="bars"
        points={usagePoints(days, now.value)}
        words={words}
        textOf={countText}
        times={times}
      />
    </>
  )
}
