/** `POST /restart`: whether the primary is to be replaced as well. */
import type { AdminReply } from '../../http/admin/listener.ts'

/** Reads the body; anything but what it may hold is refused, as an ordinary restart is not what was meant. */
export function answerRestart(body: unknown, restart: (primary: boolean) => AdminReply): AdminReply {
  if (body !== null && (typeof body !== 'object' || Array.isArray(body)))
    return refused('the body must be an object')
  const { primary = false, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return refused(`unknown member "${unknown}"; expected "primary"`)
  if (typeof primary !== 'boolean') return refused('"primary" must be true or false')
  return restart(primary)
}

function refused(error: string): AdminReply {
  return { status: 400, json: { error } }
}
