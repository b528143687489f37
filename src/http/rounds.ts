/** A queue of queues: one of each group in turn, so that a group gets no more for having many members. */
export class Rounds<T> {
  /** Whose turn is next comes first; a group without members has no entry. */
  readonly #groups = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** Adds a member of a group behind the others of it. */
  push(group: string, member: T): void {
    const members = this.#groups.get(group)
    if (members === undefined) this.#groups.set(group, [member])
    else members.push(member)
  }

  /** Takes the first member of the group whose turn it is; undefined where there is none. */
  shift(): T | undefined {
    const [first] = this.#groups
    if (first === undefined) return undefined
    const [group, members] = first
    const member = members.shift()
    // Its next one comes behind those of all other groups.
    this.#groups.delete(group)
    if (members.length > 0) this.#groups.set(group, members)
    return member
  }
}
