/**
 * The buckets of all machines, as Redis keeps them: each question is answered at one moment, by Redis' own clock. The semantics are those of
 * `LocalBuckets`; test/limits/limit-stores.test.ts holds both to them.
 *
 * A question that was answered by nobody may have been taken all the same. So each has a number, and the bucket remembers the last one of each
 * machine with what it took: the next question names the first that was not answered, and what that took is put back before it is said again. So is
 * what those questions gave back of a quota, which the machine does not hold any more. What arrives late, behind its successor, is ignored.
 *
 * A quota that Redis has lost is opened with what one machine knows to be used; what others have used and not reported is missing. Each of them finds
 * another bucket than the one it knew, and says what it has used itself before it takes from it: the bucket counts the larger of both sums. A Redis
 * that was put back to an older state, as by a restart from its snapshot, has not heard the last question that it had answered: that bucket is lost too.
 */
import { TRAFFIC } from '../../ports/limit-store.ts'
import { ACTIVE } from '../../limits/bucket.ts'
import { SPARED } from '../../limits/buckets.ts'
import { script } from './redis.ts'

/** In place of what is known to be used, where it is not known: then a bucket that is not there is not opened. */
export const UNKNOWN = '?'
/** Milliseconds for which a machine's last question is remembered, and a bucket beyond the time when it is full. */
const REMEMBERED = 60_000

/**
 * Values: the machine, and the questions as one JSON text, since each value of a command costs both sides a microsecond. A question is a list: rate,
 * burst, and the rest of its `LimitQuestion`; its number and that of the first unanswered one; what is known to be used, and when it ends; what the
 * machine itself has used; when the bucket was opened that it knew, and the number of the last question that this answered, or 0 and 0; what the unanswered ones gave back. Answers a line per bucket: `level active granted traffic opened`, or nothing.
 */
export const BUCKETS = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local machine = ARGV[1]
local questions = cjson.decode(ARGV[2])
local answers = {}
for i, key in ipairs(KEYS) do
  local rate, burst, spent, over, want, spare, number, unanswered, used, ends, own, opened, answered, returned = unpack(questions[i])
  local packed = redis.call('GET', key)
  local bucket = packed and cmsgpack.unpack(packed)
  local last = bucket and bucket.machines[machine]
  local isOlder = last and opened == bucket.opened and last[2] < answered
  local isAnother = isOlder or (bucket and opened > 0 and opened ~= bucket.opened)
  if used == '${UNKNOWN}' then
    if isAnother then bucket = false end
  elseif not bucket or isOlder then
    bucket = { level = burst - used, at = now, burst = burst, traffic = 0, trafficAt = now,
      opened = time[1] * 1000000 + time[2], machines = {} }
    if rate == 0 then
      bucket.used, bucket.said = used, own
      -- What was charged is in the ledger that says what is used.
      spent = 0
    end
  elseif isAnother and bucket.said then
    bucket.said = bucket.said + own
    local more = math.max(0, bucket.said - bucket.used)
    bucket.level, bucket.used = bucket.level - more, bucket.used + more
    spent = 0
  end
  last = bucket and bucket.machines[machine]
  answers[i] = ''
  if bucket and not (last and last[2] >= number) then
    if last and unanswered > 0 then
      if last[2] >= unanswered then bucket.level = bucket.level + last[3] end
      if not isAnother then spent = spent - returned end
    end
    if rate == 0 then bucket.level = bucket.level + burst - bucket.burst end
    bucket.burst = burst
    local function refill(to)
      bucket.level = math.min(burst, bucket.level + math.max(0, to - bucket.at) * rate / 1000)
      bucket.at = to
    end
    refill(math.max(bucket.at, now - over))
    bucket.level = bucket.level - spent
    refill(now)
    local active = 1
    for name, seen in pairs(bucket.machines) do
      if now - seen[1] >= ${REMEMBERED} then bucket.machines[name] = nil
      elseif name ~= machine and now - seen[1] < ${ACTIVE} then active = active + 1 end
    end
    local wanted = math.max(0, math.min(want, bucket.level))
    local spared = math.max(0, math.min(spare, math.floor((bucket.level - wanted) * ${SPARED} / active)))
    bucket.level = bucket.level - wanted - spared
    local took = spent + wanted + spared
    bucket.machines[machine] = { now, number, took }
    bucket.traffic = bucket.traffic * math.exp(math.min(0, bucket.trafficAt - now) / ${TRAFFIC}) + math.max(0, took)
    bucket.trafficAt = now
    local left = ends - now
    if rate > 0 then left = (burst - bucket.level) * 1000 / rate end
    redis.call('SET', key, cmsgpack.pack(bucket), 'PX', string.format('%.0f', math.max(0, left) + ${REMEMBERED}))
    answers[i] = string.format('%.17g %d %.17g %.17g %.17g',
      bucket.level, active, wanted + spared, bucket.traffic, bucket.opened)
  end
end
return table.concat(answers, '\\n')
`)

/** Lowers each bucket to what the ledger has left of it, where it holds more. Values per bucket: what is used. */
export const RECONCILE = script(`
local changed = 0
for i, key in ipairs(KEYS) do
  local packed = redis.call('GET', key)
  if packed then
    local bucket = cmsgpack.unpack(packed)
    local left = bucket.burst - tonumber(ARGV[i])
    if bucket.level > left then
      if bucket.used then bucket.used = bucket.used + bucket.level - left end
      bucket.level = left
      changed = changed + 1
      redis.call('SET', key, cmsgpack.pack(bucket), 'KEEPTTL')
    end
  end
end
return changed
`)
