/** One request of one caller, as long or as odd as it may be, holds the event loop for no longer than 100 ms. */
import t from 'tap'
import { playAll } from '../harness/scenario.ts'
import { names } from '../attacks/turns.ts'

await playAll(
  t,
  names.map(kind => ({
    name: kind,
    attack: stage => stage.attack('turns', 'turn', { kind }),
    also: (t, _, statuses: number[]) => {
      t.ok(
        statuses.every(status => status >= 200),
        'each is answered',
      )
    },
  })),
)
