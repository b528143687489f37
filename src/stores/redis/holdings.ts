/** What callers hold over all machines, as the processes of one of them ask for it. */
import { setTimeout as pause } from 'node:timers/promises'
import { orAfter } from '../../net/or-after.ts'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
} from '../../ports/holding-store.ts'
import { HOLDINGS, ROOM } from './holding-script.ts'
import type { Redis } from './redis.ts'
import { bySlot } from './slots.ts'

/** Milliseconds that a process of this machine gets to give up what it holds without using it. */
const PATIENCE = 200

/** An answer, and in how many milliseconds room ends that others have. */
interface Answered extends HoldingAnswer {
  readonly busy: number
}

/** A process of this machine. */
interface Member {
  /** Among all processes of all machines. */
  readonly name: string
  readonly process: HoldingProcess
  /** Keys under which Redis counts something of it. */
  readonly keys: Set<string>
  /** Keys of which it asks now: how many times, as it hears of a grant only afterwards. */
  readonly asking: Map<string, number>
  /** Keys of which it was asked to say what it holds, until it asks something itself. */
  readonly recalled: Set<string>
}

/** Asks Redis for the processes of this machine. */
export class RedisHoldings {
  readonly #redis: Pick<Redis, 'run' | 'isCluster'>
  readonly #processes: () => number
  readonly #members = new Set<Member>()

  /** `processes` are those that may want room, on all machines. */
  constructor(redis: Pick<Redis, 'run' | 'isCluster'>, processes: () => number) {
    this.#redis = redis
    this.#processes = processes
  }

  /** Counts a process in under its name, with what it holds already. */
  join(
    name: string,
    process: HoldingProcess,
    held: readonly HeldCount[] = [],
  ): HoldingStore & { readonly leave: () => void } {
    const member: Member = { name, process, keys: new Set(), asking: new Map(), recalled: new Set() }
    this.#members.add(member)
    void this.#report(member, held)
    return {
      hold: questions => this.#hold(member, questions),
      leave: () => {
        this.#members.delete(member)
        void this.#report(
          member,
          [...member.keys].map(key => ({ key, held: 0 })),
        )
      },
    }
  }

  async #hold(member: Member, questions: readonly HoldingQuestion[]): Promise<readonly HoldingAnswer[]> {
    for (const { key } of questions) {
      member.asking.set(key, (member.asking.get(key) ?? 0) + 1)
      member.recalled.delete(key)
    }
    try {
      const answers = await this.#ask(member, questions)
      return await Promise.all(
        answers.map(async (answer, i) => {
          const question = questions[i]!
          return answer.granted < question.want ? this.#askAgain(member, question, answer) : answer
        }),
      )
    } finally {
      for (const { key } of questions) {
        const others = member.asking.get(key)! - 1
        if (others === 0) member.asking.delete(key)
        else member.asking.set(key, others)
      }
    }
  }

  /** Nothing is left: what others keep without using it ends, or their room. */
  async #askAgain(member: Member, question: HoldingQuestion, first: Answered): Promise<HoldingAnswer> {
    let answer = first
    let granted = answer.granted
    const again = async (): Promise<void> => {
      const { held, want, ...rest } = question
      const asked = { ...rest, held: held + granted, want: want - granted }
      answer = (await this.#ask(member, [asked]))[0]!
      granted += answer.granted
    }
    if (await this.#recall(member, question)) await again()
    if (granted < question.want && answer.busy > 0) {
      await pause(answer.busy)
      await again()
    }
    return { ...answer, granted }
  }

  /**
   * Has the other processes of this machine give up what they can; whether there was one. One that asks itself has just said what it holds, and what it says
   * while it asks is without the grant that is on its way: Redis would forget that.
   */
  async #recall(member: Member, { key, want }: HoldingQuestion): Promise<boolean> {
    const others = [...this.#members].filter(
      other => other !== member && other.keys.has(key) && !other.asking.has(key),
    )
    await Promise.all(
      others.map(async other => {
        other.recalled.add(key)
        const said = other.process.recall([{ key, want }]).then(async ([held]) => {
          if (held !== undefined && other.recalled.has(key)) await this.#report(other, [{ key, held }])
        })
        // Whoever is lost leaves.
        await orAfter(
          said.catch(() => undefined),
          PATIENCE,
        )
      }),
    )
    return others.length > 0
  }

  /** Says what a process holds; while Redis is away it is said again later, by the process, and what is over ends by itself. */
  async #report(member: Member, held: readonly HeldCount[]): Promise<void> {
    const questions = held.map(one => ({ ...one, limit: 0, room: 0, want: 0 }))
    await this.#ask(member, questions).catch(() => undefined)
  }

  async #ask(member: Member, questions: readonly HoldingQuestion[]): Promise<Answered[]> {
    if (questions.length === 0) await this.#redis.run(HOLDINGS, [], [member.name, 1])
    const answers: Answered[] = []
    const { isCluster } = this.#redis
    const sent = bySlot([...questions.entries()], ([, { key }]) => key, isCluster).map(async group => {
      const values = group.flatMap(([, { limit, held, room, want }]) => [limit, held, room, want])
      const texts = (await this.#redis.run(
        HOLDINGS,
        group.map(([, { key }]) => key),
        [member.name, Math.max(1, this.#processes()), ...values],
      )) as string[]
      for (const [nth, [i, question]] of group.entries())
        answers[i] = this.#answered(member, question, texts[nth]!)
    })
    await Promise.all(sent)
    return answers
  }

  #answered(member: Member, { key, held }: HoldingQuestion, text: string): Answered {
    const [granted, room, others, before, busy] = text.split(' ').map(Number)
    if (held + granted! + room! > 0) member.keys.add(key)
    else {
      member.keys.delete(key)
      member.recalled.delete(key)
    }
    return { granted: granted!, room: room!, roomFor: ROOM, others: others!, before: before!, busy: busy! }
  }
}
