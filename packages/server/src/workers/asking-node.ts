/** The questions of a serving thread to the thread that started it. */
import type { Finding } from '../http/recent-findings.ts'
import type { NodeAnswers, ThreadReply } from './messages.ts'
import { soon } from './soon.ts'

interface AskingNode {
  readonly answers: NodeAnswers
  /** Passes on an answer, by the number of its question. */
  told(question: number, found: readonly Finding[] | undefined): void
  added(question: number): void
}

/** `addAllReadings` resolves within 2 s; `findings` rejects if the findings could not be made. */
export function askingNode(send: (reply: ThreadReply) => void): AskingNode {
  const questions = new Map<number, (found: readonly Finding[] | undefined) => void>()
  const additions = new Map<number, () => void>()
  let lastQuestion = 0
  return {
    answers: {
      findings: async () => {
        const id = (lastQuestion += 1)
        const told = new Promise<readonly Finding[] | undefined>((resolve) => questions.set(id, resolve))
        send({ kind: 'question', id, about: 'findings' })
        const found = await told
        if (found === undefined) throw new Error('the findings about this node could not be made')
        return found
      },
      addAllReadings: async () => {
        const id = (lastQuestion += 1)
        const added = new Promise<void>((resolve) => additions.set(id, resolve))
        send({ kind: 'question', id, about: 'readings' })
        await soon(added)
      },
    },
    told(question, found) {
      questions.get(question)?.(found)
      questions.delete(question)
    },
    added(question) {
      additions.get(question)?.()
      additions.delete(question)
    },
  }
}
