import { Table } from './compare.ts'
import { STARTS } from './effort.ts'
import { pinLoad, pinMeasured } from './pin.ts'
import { Processes } from './processes.ts'

/**
 * Makes the comparisons of a benchmark at each of a few starts of its processes, and prints what all of them come to. What is measured has a core of its
 * own, the load and its node another.
 */
export async function overStarts(
  measure: (table: Table, processes: Processes) => Promise<void>,
): Promise<void> {
  pinLoad()
  const table = new Table(({ pid, others = [] }) => {
    for (const each of [pid, ...others]) pinMeasured(each)
  })
  for (let start = 0; start < STARTS; start += 1) {
    const processes = new Processes()
    try {
      await measure(table, processes)
    } finally {
      await processes.stop()
    }
  }
  table.print()
}
