/**
 * What the program tells its user when it cannot do what was asked: whole sentences that say what to do. It ends with
 * exit code 1. Thrown by commands and caught once, in `main`; every other error there is one of ours or the machine's.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
