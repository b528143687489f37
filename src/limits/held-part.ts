/** Milliseconds for which the others are asked about after the last of a process's own ended, and count where nobody can be asked. */
const COUNTED = 60_000

/** What one process holds under one key, and what it knows of the others. */
export interface HeldPart {
  readonly key: string
  own: number
  /** How many may be taken without asking. */
  room: number
  /** Until when. */
  roomUntil: number
  /** What the others hold, as last heard, and those of them in the slots before. */
  others: number
  before: number
  /** When that was heard, and when the process last held or wanted one. */
  heardAt: number
  usedAt: number
  /** As it was last said here. */
  limit: number
  /** The limit that all together kept to when that was last known. */
  kept: number
  waiting: Waiting[]
  isAsking: boolean
}

/** Whoever waits for an answer: for one more, or, with 0, for what the others hold. */
export interface Waiting {
  readonly want: 0 | 1
  readonly resolve: (isTaken: boolean) => void
}

/** Nothing is held yet. */
export function newPart(key: string, limit: number): HeldPart {
  return {
    key,
    own: 0,
    room: 0,
    roomUntil: Infinity,
    others: 0,
    before: 0,
    heardAt: -Infinity,
    usedAt: -Infinity,
    limit,
    kept: limit,
    waiting: [],
    isAsking: false,
  }
}

/** Whether somebody waits for one more. */
export function wants({ waiting }: HeldPart): boolean {
  return waiting.some(({ want }) => want > 0)
}

/** Whether there is nothing to remember, at this time of a store that may be away later. */
export function isOver({ own, room, others, usedAt }: HeldPart, now: number): boolean {
  return own === 0 && room === 0 && (others === 0 || now - usedAt >= COUNTED)
}

/** Takes one where nobody can be asked: what is known of the others decides. */
export function takeAlone(part: HeldPart, limit: number, now: number): boolean {
  // Who holds none hears of nobody's end, and would be refused for as long as that lasts.
  if (part.own === 0 && now - part.heardAt >= COUNTED) part.others = 0
  if (part.own + part.others >= limit) return false
  // What all together hold then is not known to be within any limit.
  part.kept = Infinity
  part.own += 1
  return true
}

/**
 * How many of a process's own may stay under a smaller limit; Infinity where all processes together keep to it. Where all know the same, their
 * parts are the limit.
 */
export function stays(part: HeldPart, limit: number): number {
  const { own, others, before } = part
  const all = own + others
  if (all <= limit) {
    part.kept = limit
    return Infinity
  }
  return Math.floor(((before + own) * limit) / all) - Math.floor((before * limit) / all)
}
