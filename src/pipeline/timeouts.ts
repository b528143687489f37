/** Milliseconds per attempt and for all attempts of a call, by the rule's class (design, "Numbers"). */
export const TIMEOUTS = {
  fast: { attempt: 5_000, deadline: 15_000 },
  normal: { attempt: 10_000, deadline: 30_000 },
  heavy: { attempt: 60_000, deadline: 60_000 },
} as const
