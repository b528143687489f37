/** A value, or the promise of one: what a port may give, so that one in memory makes nobody wait. */
export type MaybePromise<T> = T | Promise<T>
