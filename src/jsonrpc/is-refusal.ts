import { Refusal } from './refusal.ts'

/** Tells a stage's output from a refusal. */
export function isRefusal(value: object): value is Refusal {
  return value instanceof Refusal
}
