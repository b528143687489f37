/** Lets notifications out once their charge is on disk, in the order they came. */
import { familyOf } from '../../families/families.ts'
import type { Charge } from '../../ports/journal.ts'
import type { Message } from '../../ports/subscriptions.ts'
import type { Network } from '../../snapshot/types.ts'
import { NotificationFrame } from './notification-frame.ts'

type Release = (committed: boolean) => void

/** Encodes a message once for all sockets, and gathers the notifications of one loop turn, which share one commit. */
export class Outbox {
  #commit: ReturnType<Charge['commit']> | null = null
  #waiting: Release[] = []
  /** The last message and its frame: all its clients hear of it before the next one comes. */
  #message: Message | null = null
  #name = ''
  #frame = new NotificationFrame(['', ''])

  /** The frame of a message under the name of its notification. */
  frameOf(message: Message, name: string, network: Network): NotificationFrame {
    if (message !== this.#message || name !== this.#name) {
      this.#frame = new NotificationFrame(familyOf(network).subscriptions.encode(name, message.result))
      this.#message = message
      this.#name = name
    }
    return this.#frame
  }

  /** Calls `release` when the charge's commit has been tried. */
  push(charge: Charge, release: Release): void {
    const commit = charge.commit()
    if (this.#commit !== commit) {
      const waiting: Release[] = []
      this.#commit = commit
      this.#waiting = waiting
      void Promise.resolve(commit).then(committed => {
        if (this.#waiting === waiting) this.#commit = null
        for (const each of waiting) each(committed)
      })
    }
    this.#waiting.push(release)
  }

  /** Does something behind all that waits to be released. */
  after(work: () => void): void {
    if (this.#commit === null) work()
    else this.#waiting.push(work)
  }
}
