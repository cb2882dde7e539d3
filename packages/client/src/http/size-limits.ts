/** How large answers may be (PROTOCOL §8). A server that is broken or hostile must not fill the memory of its readers. */
import { InvalidAnswerError } from '../errors.ts'

/** UTF-16 units of a payload: a service stores 256 KiB of UTF-8 at most. */
export const maxPayloadLength = 256 * 2 ** 10
/** UTF-16 units of a line or a message. An event has 1.6 million at most: a payload, all of it escapes. */
export const maxLineLength = 2 * 2 ** 20
/** Bytes of an answer other than a page: a run has 8 MiB of events, and the last of them. */
export const maxAnswerBytes = 12 * 2 ** 20
/** Bytes of an event on a page, on average: the largest payload, and an eighth more for its escapes and the other members. */
const maxPageEventBytes = 288 * 2 ** 10
const maxPageBytes = 300 * 2 ** 20
/** Values in a text of JSON that is longer than this are counted before it is read. */
const smallText = 2 * 2 ** 20
const maxValues = 500_000

/** Bytes of a page of so many events. */
export function pageBytes(pageSize: number): number {
  return Math.min(maxPageBytes, Math.max(maxAnswerBytes, pageSize * maxPageEventBytes))
}

/** The error for an answer that is longer than allowed. A second attempt would cost as much again. */
export function tooLong(sentence: string): InvalidAnswerError {
  return new InvalidAnswerError(sentence, { attempts: 1 })
}

/** Throws for a long text with so many values that they would take a multiple of its size. */
export function checkValues(text: string): void {
  if (text.length <= smallText) return
  let values = 0
  let isInString = false
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === 0x22) isInString = !isInString
    else if (isInString) index += unit === 0x5c ? 1 : 0
    else if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values += 1
  }
  if (values > maxValues) throw tooLong(`The answer has ${values} values, and may have ${maxValues}.`)
}
