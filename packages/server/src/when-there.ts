/**
 * Goes on with a value: at once if it is there, or when it is. A promise for what is there already costs a turn of the queue
 * of microtasks, and several of them some 2 us of a request that takes 30.
 */
export function whenThere<Value, Result>(
  value: Value | Promise<Value>,
  use: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}
