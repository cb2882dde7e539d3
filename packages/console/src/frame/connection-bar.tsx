/** Says that the service does not answer, and how old the shown data is. It disappears by itself. */
import { now } from '../state/clock.ts'
import { connection } from '../state/connection.ts'
import { ageText } from '../words/times.ts'

export function ConnectionBar() {
  const { awaySince, answeredAt } = connection.value
  if (awaySince === undefined) return null
  return (
    <p class="connection-bar">
      <span role="alert">The service does not answer.</span> What is shown is of{' '}
      {ageText(answeredAt, Math.max(now.value, answeredAt))}. The console goes on by itself.
    </p>
  )
}
