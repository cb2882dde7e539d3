import { setTimeout as delay } from 'node:timers/promises'
import type { OrderedFeed } from './order-log.ts'

/**
 * Deliberately broken: numbers come from a sequence as publishers ask, events become visible as commits happen to end,
 * as with a database's own sequence. For the test that must notice.
 */
export function plainSequence(): OrderedFeed {
  let sequence = 0
  const visible: number[] = []
  return {
    async publish() {
      sequence += 1
      const number = sequence
      await delay((number * 7) % 11)
      visible.push(number)
      return number
    },
    async visible() {
      return visible.toSorted((a, b) => a - b)
    },
  }
}

/** Broken otherwise: numbers are handed out in blocks to each publisher, so they do not follow the acknowledgements. */
export function numbersInBlocks(): OrderedFeed {
  const blocks = new Map<string, { next: number; end: number }>()
  let given = 0
  const visible: number[] = []
  return {
    async publish(name) {
      const publisher = name.slice(0, name.lastIndexOf(' '))
      let block = blocks.get(publisher)
      if (block === undefined || block.next === block.end) {
        block = { next: given + 1, end: given + 11 }
        given += 10
        blocks.set(publisher, block)
      }
      const number = block.next
      block.next += 1
      await delay(1)
      visible.push(number)
      return number
    },
    async visible() {
      return []
    },
  }
}
