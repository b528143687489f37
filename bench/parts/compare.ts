import { cpuOfThreads, median } from './cpu.ts'
import { ROUNDS } from './effort.ts'

/** One side of a comparison: a process, and what it is given to do. */
export interface Side {
  readonly name: string
  readonly pid: number
  /** The work of one round; resolves with the number of calls it was. */
  readonly work: () => Promise<number>
  /** Microseconds of CPU so far that the process has used for other things than calls. */
  readonly aside?: () => Promise<number>
}

/** The head of the table whose lines `compare` prints. */
export const HEAD = '| CPU per | gateway | reference | ratio |\n|---|---|---|---|'

/** Prints CPU per call of ours and theirs, in turns so that a noisy minute hits both; a first round of each does not count. */
export async function compare(title: string, ours: Side, theirs: Side): Promise<void> {
  const rounds: { ours: number; theirs: number }[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const figures = { ours: await perCall(ours), theirs: await perCall(theirs) }
    if (round > 0) rounds.push(figures)
  }
  const [a, b] = [median(rounds.map(each => each.ours)), median(rounds.map(each => each.theirs))]
  const ratio = median(rounds.map(each => each.ours / each.theirs))
  console.log(`| ${title} | ${a.toFixed(1)} µs | ${theirs.name} ${b.toFixed(1)} µs | ${ratio.toFixed(2)} |`)
}

async function perCall({ pid, work, aside = () => Promise.resolve(0) }: Side): Promise<number> {
  const before = cpuOfThreads(pid) - (await aside())
  const calls = await work()
  return (cpuOfThreads(pid) - (await aside()) - before) / calls
}
