/** What callers hold over all machines, as the processes of one of them ask for it. */
import { orAfter } from '../../net/or-after.ts'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
} from '../../ports/holding-store.ts'
import { HOLDINGS } from './holding-script.ts'
import type { Redis } from './redis.ts'
import { bySlot } from './slots.ts'

/** Milliseconds that a process of this machine gets to give up what it holds without using it. */
const PATIENCE = 200

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
  readonly #members = new Set<Member>()

  constructor(redis: Pick<Redis, 'run' | 'isCluster'>) {
    this.#redis = redis
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

  /** Nothing is left: what others keep without using it ends. */
  async #askAgain(
    member: Member,
    question: HoldingQuestion,
    { granted, ...answer }: HoldingAnswer,
  ): Promise<HoldingAnswer> {
    if (!(await this.#recall(member, question))) return { ...answer, granted }
    const { held, want } = question
    const [again] = await this.#ask(member, [{ ...question, held: held + granted, want: want - granted }])
    return { ...again!, granted: granted + again!.granted }
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
    const questions = held.map(one => ({ ...one, limit: 0, want: 0 }))
    await this.#ask(member, questions).catch(() => undefined)
  }

  async #ask(member: Member, questions: readonly HoldingQuestion[]): Promise<HoldingAnswer[]> {
    if (questions.length === 0) await this.#redis.run(HOLDINGS, [], [member.name])
    const answers: HoldingAnswer[] = []
    const { isCluster } = this.#redis
    const sent = bySlot([...questions.entries()], ([, { key }]) => key, isCluster).map(async group => {
      const values = group.flatMap(([, { limit, held, want }]) => [limit, held, want])
      const texts = (await this.#redis.run(
        HOLDINGS,
        group.map(([, { key }]) => key),
        [member.name, ...values],
      )) as string[]
      for (const [nth, [i, question]] of group.entries())
        answers[i] = this.#answered(member, question, texts[nth]!)
    })
    await Promise.all(sent)
    return answers
  }

  #answered(member: Member, { key, held }: HoldingQuestion, text: string): HoldingAnswer {
    const [granted, others, before] = text.split(' ').map(Number)
    if (held + granted! > 0) member.keys.add(key)
    else {
      member.keys.delete(key)
      member.recalled.delete(key)
    }
    return { granted: granted!, others: others!, before: before! }
  }
}
