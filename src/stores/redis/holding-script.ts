/**
 * What callers hold over all machines, as Redis counts it. Every process says what it holds every few seconds; one that is silent for ten counts no
 * more.
 */
import { script } from './redis.ts'

/** Values of a question: its limit, what is held, and how many are wanted. */
const VALUES = 3
/** Milliseconds for which a process counts after it has spoken. */
const SILENT = 10_000

/** Answers per key: `granted others before`. The first value is the process. */
export const HOLDINGS = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local process = ARGV[1]
local answers = {}
for i, key in ipairs(KEYS) do
  local a = 2 + (i - 1) * ${VALUES}
  local limit, held, want = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local packed = redis.call('GET', key)
  local all = packed and cmsgpack.unpack(packed) or {}
  all[process] = nil
  local others, before, isEmpty = 0, 0, true
  for name, one in pairs(all) do
    if now - one[2] >= ${SILENT} then
      all[name] = nil
    else
      isEmpty = false
      others = others + one[1]
      if name < process then before = before + one[1] end
    end
  end
  local granted = math.max(0, math.min(want, limit - others - held))
  held = held + granted
  if held > 0 then
    all[process] = { held, now }
    isEmpty = false
  end
  if isEmpty then redis.call('DEL', key)
  else redis.call('SET', key, cmsgpack.pack(all), 'PX', ${SILENT}) end
  answers[i] = string.format('%d %d %d', granted, others, before)
end
return answers
`)
