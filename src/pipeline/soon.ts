/** Values that are there at once where nobody has to be asked: a call that is refused costs no turn of the loop. */

/** A value, or the promise of one. */
export type Soon<T> = T | Promise<T>

/** Does the next step with a value now, or when it has come. */
export function then<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
