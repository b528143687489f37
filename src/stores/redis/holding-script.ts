/**
 * What callers hold over all machines, as Redis counts it. Every process says what it holds every few seconds; one that is silent for ten counts no
 * more. The room that a process is given to take from by itself ends by time, since nobody can be asked to give it up.
 */
import { EDGE, GIVEN } from '../../limits/held-key.ts'
import { script } from './redis.ts'

/** Values of a question: its limit, what is held, the room that is left, and how many are wanted. */
export const VALUES = 4
/** Milliseconds for which room may be used, and for which a process counts after it has spoken. */
export const ROOM = 1_000
const SILENT = 10_000

/** Answers per key: `granted room others before busy`; `busy` is in how many milliseconds others' room ends. The first values are the process, and how many there are. */
export const HOLDINGS = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local process, processes = ARGV[1], tonumber(ARGV[2])
local answers = {}
for i, key in ipairs(KEYS) do
  local a = 3 + (i - 1) * ${VALUES}
  local limit, held = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local room, want = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local packed = redis.call('GET', key)
  local all = packed and cmsgpack.unpack(packed) or {}
  local own = all[process] or { 0, 0, 0, 0 }
  all[process] = nil
  local others, rooms, before, busy, isEmpty = 0, 0, 0, 0, true
  for name, one in pairs(all) do
    if now - one[4] >= ${SILENT} then
      all[name] = nil
    else
      isEmpty = false
      if one[3] <= now then one[2] = 0 end
      if one[2] > 0 and (busy == 0 or one[3] - now < busy) then busy = one[3] - now end
      others = others + one[1]
      rooms = rooms + one[2]
      if name < process then before = before + one[1] end
    end
  end
  local left = limit - others - rooms - held - room
  local granted = math.max(0, math.min(want, left))
  held = held + granted
  local given = 0
  if held > 0 then
    local spare = limit * ${EDGE} - others - rooms - held
    given = math.max(0, math.floor(spare * ${GIVEN} / processes) - room)
  end
  local ends = own[3]
  if given > 0 then ends = now + ${ROOM} end
  if held > 0 or room > 0 then
    all[process] = { held, room + given, ends, now }
    isEmpty = false
  end
  if isEmpty then redis.call('DEL', key)
  else redis.call('SET', key, cmsgpack.pack(all), 'PX', ${SILENT}) end
  answers[i] = string.format('%d %d %d %d %d', granted, given, others, before, busy)
end
return answers
`)
