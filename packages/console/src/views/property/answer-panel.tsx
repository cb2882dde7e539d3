/** Why a site shows something else. It comes first on the page of a property. */
import type { PropertyConsumers } from '@property-events/protocol/wire'
import type { LiveAnswer } from '../../service/use-answer.ts'
import { Answer } from '../../parts/answer.tsx'
import { Moment } from '../../parts/age.tsx'
import { now } from '../../state/clock.ts'
import { answerHeadline, answerLines, publisherLine } from './answer.ts'
import type { AnswerLine, AnswerMark } from './answer.ts'

export function AnswerPanel({ delivery }: { readonly delivery: LiveAnswer<PropertyConsumers> }) {
  return (
    <section class="answer" aria-labelledby="answer-title">
      <h2 id="answer-title">Why does a site show something else?</h2>
      <Answer of={delivery} what="what each consumer has">
        {(value) => <Lines answer={value} />}
      </Answer>
    </section>
  )
}

function Lines({ answer }: { readonly answer: PropertyConsumers }) {
  const lines = answerLines(answer, now.value)
  const silence = publisherLine(answer, now.value)
  return (
    <>
      <p class="quiet">
        The latest version was published <Moment at={answer.event.publishedAt} />. {answerHeadline(lines)}.
      </p>
      {silence !== undefined && <p class="mark-stopped">{silence}</p>}
      <ul>
        {lines.map((line) => (
          <Line key={`${line.keyId} ${line.who}`} line={line} />
        ))}
      </ul>
    </>
  )
}

const signs: Readonly<Record<AnswerMark, readonly [sign: string, says: string]>> = {
  done: ['✓', 'has it'],
  waits: ['…', 'waits'],
  stopped: ['✗', 'needs attention'],
  other: ['–', 'not for it'],
}

function Line({ line: { who, mark, parts } }: { readonly line: AnswerLine }) {
  const [sign, says] = signs[mark]
  return (
    <li class={mark}>
      <span class="who">{who}</span>
      <span class="sign">
        <span aria-hidden="true">{sign}</span>
        <span class="unseen">{says}</span>
      </span>
      <span class="sentence">
        {parts.map(({ text, href }) =>
          href === undefined ? (
            text
          ) : (
            <a key={href} href={href} target="_blank" rel="noreferrer">
              {text} ↗
            </a>
          ),
        )}
      </span>
    </li>
  )
}
