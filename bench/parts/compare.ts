/** Comparisons of CPU per call: ours against a reference, in turns. */
import { cpuOfThreads, median } from './cpu.ts'
import { ROUNDS } from './effort.ts'

/** One side of a comparison: a process, and what it is given to do. */
export interface Side {
  readonly name: string
  readonly pid: number
  /** Other processes that do the work with it. */
  readonly others?: readonly number[]
  /** The work of one round; resolves with the number of calls it was. */
  readonly work: () => Promise<number>
  /** Microseconds of CPU so far that the process has used for other things than calls. */
  readonly aside?: () => Promise<number>
}

/** The head of a table of comparisons. */
export const HEAD = '| CPU per | gateway | reference | ratio |\n|---|---|---|---|'

/** Rounds before the first that counts. */
const WARM_UP = 2

/** What was measured under one title, against one reference. */
interface Line {
  readonly title: string
  readonly reference: string
  readonly rounds: Round[]
}

interface Round {
  readonly ours: number
  readonly theirs: number
}

/** Comparisons, each of which may be gone on with on processes that were started anew. */
export class Table {
  readonly #lines = new Map<string, Line>()
  readonly #prepare: (side: Side) => void

  /** `prepare` is given each side before it is measured. */
  constructor(prepare: (side: Side) => void = () => undefined) {
    this.#prepare = prepare
  }

  /** Measures both in turns, so that a noisy minute hits both. */
  async compare(title: string, ours: Side, theirs: Side, count = ROUNDS): Promise<void> {
    const { rounds } = this.#lineOf(title, theirs.name)
    for (const side of [ours, theirs]) this.#prepare(side)
    for (let round = -WARM_UP; round < count; round += 1) {
      const figures = { ours: await perCall(ours), theirs: await perCall(theirs) }
      if (round >= 0) rounds.push(figures)
    }
  }

  /** Prints the medians of all rounds. */
  print(): void {
    console.log(HEAD)
    for (const { title, reference, rounds } of this.#lines.values()) {
      const [a, b] = [median(rounds.map(each => each.ours)), median(rounds.map(each => each.theirs))]
      const ratio = median(rounds.map(each => each.ours / each.theirs))
      console.log(`| ${title} | ${a.toFixed(1)} µs | ${reference} ${b.toFixed(1)} µs | ${ratio.toFixed(2)} |`)
    }
  }

  #lineOf(title: string, reference: string): Line {
    const key = JSON.stringify([title, reference])
    const line = this.#lines.get(key) ?? { title, reference, rounds: [] }
    this.#lines.set(key, line)
    return line
  }
}

async function perCall({ pid, others = [], work, aside = () => Promise.resolve(0) }: Side): Promise<number> {
  const cpu = (): number => [pid, ...others].reduce((sum, each) => sum + cpuOfThreads(each), 0)
  const before = cpu() - (await aside())
  const calls = await work()
  return (cpu() - (await aside()) - before) / calls
}
