/** What needs somebody: a card for each. */
import { hrefOf } from '../../root.ts'
import { counted } from '../../words/numbers.ts'
import type { Fault } from './tenant-row.ts'

interface Props {
  readonly faults: readonly Fault[]
  /** Of how many agencies consumers were looked at. */
  readonly looked: number
  readonly hasMore: boolean
}

export function Faults({ faults, looked, hasMore }: Props) {
  return (
    <section class="faults" aria-labelledby="faults">
      <h2 id="faults">Needs somebody</h2>
      {faults.length === 0 ? (
        <p class="quiet">
          Nothing{hasMore ? `, of the ${counted(looked, 'agency', 'agencies')} below` : ''}.
        </p>
      ) : (
        <ul>
          {faults.map(({ key, sentence, remedy, action, isBad }) => (
            <li key={key} class={isBad ? 'bad' : 'warn'}>
              <p>
                {sentence}
                {remedy !== undefined && <span class="remedy"> {remedy}</span>}
              </p>
              {action !== undefined && <a href={hrefOf(action.place)}>{action.name}</a>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
