/**
 * The law of the ledger in Lua, as shared/engine/ledger/decide.ts says it: one script, one operation a call, atomic as every
 * script is. Whatever can fail is computed before the first write, because Redis takes no write back.
 *
 * Amounts are whole numbers up to 1e15, exact in Lua's doubles. They are stored and answered as digits: Lua would write 1e+15.
 * A sweep and a resolution reach accounts and holds that the caller cannot know: their names are made from the tenant's prefix,
 * so they lie in the same hash slot as the keys that were named.
 */
import { createHash } from 'node:crypto';
import { AMOUNT_MAX } from '../../contract/plans.ts';
import { ROLLING_SECONDS } from '../../engine/ledger/decide.ts';

const HOUR_MS = 3_600_000;
/** Accounts stay this long after their period, for settlements that come late. */
export const GRACE_MS = 48 * HOUR_MS;
/** Accounts without an end (`run`, the rolling minute), and a tenant's own keys, after they were last touched. */
export const IDLE_MS = 400 * 24 * HOUR_MS;
/** An idempotency key whose reservation is held on nothing that ends. */
export const KEY_MS = 35 * 24 * HOUR_MS;
/** Entries of a tenant's journal that are kept at least; older ones are dropped in blocks. */
export const JOURNAL_MAX = 100_000;
export const CLOSED_MAX = 1_000;
export const SWEEP_MAX = 100;
/** Open holds that a refusal looks through for the first that expires. */
const LOOK_MAX = 10_000;

export const ledgerScript = `
-- KEYS: 1 meta, 2 journal, 3 open holds, 4 closed ids, 5 accounts by touch, 6 accounts by end, then those of the operation
-- ARGV: 1 operation, 2 prefix of the tenant, 3 the caller's time in ms, then those of the operation
local META, JOURNAL, OPEN, CLOSED, TOUCHED, ENDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local operation, prefix, at = ARGV[1], ARGV[2], tonumber(ARGV[3])
local AMOUNT_MAX, SAFE_MAX, GRACE, IDLE = ${AMOUNT_MAX}, 9007199254740991, ${GRACE_MS}, ${IDLE_MS}
local call, floor, max, min, format = redis.call, math.floor, math.max, math.min, string.format

local function digits(number) return format('%.0f', number) end

local time = call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = floor(micros / 1000)

-- Journal ------------------------------------------------------------------------------------------------------------------
-- Numbers of entries are microseconds of this clock, one more where two would be equal: they rise within a tenant, and entries
-- of several tenants can be merged by them.
local meta = call('HMGET', META, 'seq', 'count', 'day')
local seq, count = tonumber(meta[1]) or 0, tonumber(meta[2]) or 0
local today = digits(floor(now / 86400000))

local function nextSeq() return max(seq + 1, micros) end

-- o operation, a when, b the reservation or grant, h how it was resolved, c charges, q number of the entry that reserved it
local function journal(o, a, b, h, c, q)
  seq = nextSeq()
  count = count + 1
  call('XADD', JOURNAL, 'MAXLEN', '~', ${JOURNAL_MAX}, digits(seq) .. '-0', 'o', o, 'a', digits(a), 'b', b, 'h', h, 'c', c, 'q', digits(q or seq))
  return seq
end

local function saveMeta()
  call('HSET', META, 'seq', digits(seq), 'count', digits(count), 'day', today)
  if meta[3] == today then return end
  meta[3] = today
  for _, key in ipairs({ META, JOURNAL, CLOSED, TOUCHED, ENDS }) do call('PEXPIRE', key, IDLE) end
end

-- Accounts -----------------------------------------------------------------------------------------------------------------
-- s spent, h held, o overrun, g granted, l limit ('' none), m largest limit ever ('' was none), t last touched, f first entry,
-- r thresholds told, p all thresholds, e end ('' none), z zone; of the rolling minute also S<second> and H<second>.
local function load(rest, rolling)
  local key = prefix .. 'a:' .. rest
  local account = { key = key, rest = rest, rolling = rolling }
  local found
  if rolling then
    local flat = call('HGETALL', key)
    found = {}
    account.spentIn, account.heldIn = {}, {}
    for index = 1, #flat, 2 do
      local name, value = flat[index], flat[index + 1]
      local second = tonumber(string.match(name, '^[SH](%d+)$'))
      if not second then found[name] = value
      elseif string.sub(name, 1, 1) == 'S' then account.spentIn[second] = tonumber(value)
      else account.heldIn[second] = tonumber(value) end
    end
  else
    local list = call('HMGET', key, 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
    found = { s = list[1], h = list[2], o = list[3], g = list[4], l = list[5], m = list[6], f = list[7], r = list[8], p = list[9], e = list[10], z = list[11] }
  end
  account.exists = found.f and true or false
  account.spent, account.held = tonumber(found.s or 0), tonumber(found.h or 0)
  account.overrun, account.granted = tonumber(found.o or 0), tonumber(found.g or 0)
  account.limit, account.largest = found.l or '', found.m or ''
  account.first, account.told, account.alerts = tonumber(found.f or 0), found.r or '', found.p or ''
  account.ends, account.zone = found.e or '', found.z or ''
  return account
end

local function firstSecond() return floor(at / 1000) - ${ROLLING_SECONDS - 1} end

-- Spent and held as limits see them: of the rolling minute only what is inside.
local function used(account)
  if not account.rolling then return account.spent, account.held end
  local spent, held, from = 0, 0, firstSecond()
  for second, amount in pairs(account.spentIn) do if second >= from then spent = spent + amount end end
  for second, amount in pairs(account.heldIn) do if second >= from then held = held + amount end end
  return spent, held
end

local function stateOf(account)
  local spent, held = used(account)
  return { account.rest, account.limit, digits(account.granted), digits(spent), digits(held), digits(account.overrun), account.told, account.alerts, account.ends, account.zone }
end

local function statesOf(accounts)
  local states = {}
  for _, account in ipairs(accounts) do if account.exists then states[#states + 1] = stateOf(account) end end
  return states
end

-- nil = no limit
local function effective(limit, granted)
  if limit == '' then return nil end
  return min(AMOUNT_MAX, tonumber(limit) + granted)
end

local function largestAfter(account, limit)
  if not account.exists then return limit and digits(limit) or '' end
  if account.largest == '' or not limit then return '' end
  return digits(max(tonumber(account.largest), limit))
end

-- Conservation: what is spent and held passes the largest limit only by marked overrun. Nothing was written when this fails.
local function assertSound(account)
  for name, amount in pairs({ spent = account.spent, held = account.held, overrun = account.overrun }) do
    if amount < 0 or amount > SAFE_MAX then error('Broken rule: ' .. name .. ' of ' .. account.rest .. ' is ' .. digits(amount)) end
  end
  if account.rolling or account.largest == '' then return end
  if account.spent + account.held > tonumber(account.largest) + account.overrun then
    error('Broken rule: ' .. account.rest .. ' is over its limit')
  end
end

local function lifeOf(ends, expires)
  if ends == '' then return IDLE end
  return min(IDLE * 2, max(0, max(tonumber(ends), expires) - at) + GRACE)
end

-- After the first write to a fresh account: when it ends, and whether others have ended and can be forgotten.
local function born(account, life)
  call('PEXPIRE', account.key, digits(life))
  call('ZADD', ENDS, digits(now + life), account.rest)
  for _, rest in ipairs(call('ZRANGEBYSCORE', ENDS, '-inf', digits(now), 'LIMIT', 0, 4)) do
    local left = call('PTTL', prefix .. 'a:' .. rest)
    if left > 0 then call('ZADD', ENDS, digits(now + left), rest)
    else call('ZREM', ENDS, rest); call('ZREM', TOUCHED, rest) end
  end
end

local function touch(accounts)
  local members = {}
  for index, account in ipairs(accounts) do
    if account.exists then members[#members + 1] = digits(seq + index - 1); members[#members + 1] = account.rest end
  end
  if #members > 0 then call('ZADD', TOUCHED, unpack(members)) end
end

-- Holds --------------------------------------------------------------------------------------------------------------------
-- A member of the open holds: its id, and the accounts it holds something on, each on a line of its own.
local function memberOf(part, lines)
  local names = { part }
  -- A hold of nothing frees nothing when it goes.
  for _, line in ipairs(lines) do if line.amount > 0 then names[#names + 1] = line.rest end end
  return table.concat(names, '\\n') .. '\\n'
end

local function firstExpiry(rest)
  local holds = call('ZRANGE', OPEN, 0, ${LOOK_MAX - 1}, 'WITHSCORES')
  for index = 1, #holds, 2 do
    if string.find(holds[index], '\\n' .. rest .. '\\n', 1, true) then return digits(tonumber(holds[index + 1])) end
  end
  return ''
end

-- When enough of the rolling minute has passed; '' where it never has.
local function freeAt(account, amount, limit, left)
  local sums, seconds, from = {}, {}, firstSecond()
  for _, list in ipairs({ account.spentIn, account.heldIn }) do
    for second, sum in pairs(list) do
      if second >= from then
        if not sums[second] then seconds[#seconds + 1] = second end
        sums[second] = (sums[second] or 0) + sum
      end
    end
  end
  table.sort(seconds)
  for _, second in ipairs(seconds) do
    left = left - sums[second]
    if left + amount <= limit then return digits((second + ${ROLLING_SECONDS}) * 1000) end
  end
  return ''
end

-- used x 100 >= limit x percent, without leaving the exact numbers.
local function reached(spent, limit, percent)
  local whole, part = floor(limit / 100), limit % 100
  local over = spent - whole * percent
  return over > 99 or over * 100 >= part * percent
end

local function crossingsOf(account, index)
  local limit, crossings = effective(account.limit, account.granted), {}
  if account.rolling or not limit or limit == 0 then return crossings end
  for percent in string.gmatch(account.alerts, '%d+') do
    if not string.find(',' .. account.told .. ',', ',' .. percent .. ',', 1, true) and reached(account.spent, limit, tonumber(percent)) then
      account.told = account.told == '' and percent or account.told .. ',' .. percent
      account.toldMore = true
      crossings[#crossings + 1] = { digits(index - 1), percent, digits(account.spent), digits(limit) }
    end
  end
  return crossings
end

-- b what was asked, a opened, x expires, s state ('' open), q number of its entry, l lines, k life after it is resolved,
-- c closed, h how, v overrun in tokens, z number of the entry that closed it
local function loadHold(part)
  local key = prefix .. 'r:' .. part
  local found = call('HMGET', key, 'b', 'a', 's', 'q', 'l', 'k', 'c', 'h', 'v')
  if not found[1] then return nil end
  local hold = { key = key, part = part, blob = found[1], opened = tonumber(found[2]), state = found[3], seq = tonumber(found[4]), life = found[6], closed = found[7] or '', how = found[8] or '', overrun = found[9] or '0', lines = {}, accounts = {} }
  for rest, unit, amount, rolling in string.gmatch(found[5], '([^ ]+) ([^ ]+) (%d+) ([01])\\n') do
    local account = load(rest, rolling == '1')
    -- An account that ended, and may have been opened anew since, is charged no more.
    if account.exists and account.first > hold.seq then account.exists = false end
    hold.lines[#hold.lines + 1] = { rest = rest, unit = unit, amount = tonumber(amount), account = account }
    hold.accounts[#hold.accounts + 1] = account
  end
  return hold
end

local function holdAnswer(hold, repeated, crossings)
  return { repeated, hold.blob, digits(hold.opened), hold.state, hold.closed, hold.how, hold.overrun, statesOf(hold.accounts), crossings }
end

-- charges by unit, nil = as reserved. A charge that would leave the range of amounts is refused: nil and the line it is.
local function resolveHold(hold, state, charges, how)
  local overrunTokens, posted, crossings = 0, {}, {}
  for _, line in ipairs(hold.lines) do
    local amount, account = charges and charges[line.unit] or line.amount, line.account
    if account.exists and amount > line.amount and account.spent + account.held - line.amount + amount > AMOUNT_MAX then
      return nil, { line.unit, digits(line.amount), digits(account.spent), digits(account.held) }
    end
  end
  for index, line in ipairs(hold.lines) do
    local amount = charges and charges[line.unit] or line.amount
    local over, account = max(0, amount - line.amount), line.account
    posted[index] = digits(amount) .. ' ' .. digits(over)
    if line.unit == 'tokens' then overrunTokens = over end
    if account.exists then
      account.held, account.spent, account.overrun = account.held - line.amount, account.spent + amount, account.overrun + over
      assertSound(account)
      local second = floor(hold.opened / 1000)
      if account.rolling then
        account.heldIn[second] = (account.heldIn[second] or 0) - line.amount
        account.spentIn[second] = (account.spentIn[second] or 0) + amount
        account.second = second
      end
      for _, crossing in ipairs(crossingsOf(account, index)) do crossings[#crossings + 1] = crossing end
    end
  end
  -- From here on nothing can fail.
  hold.state, hold.closed, hold.how, hold.overrun = state, digits(at), how, digits(overrunTokens)
  local closedBy = journal(state, at, hold.blob, how, table.concat(posted, ' '), hold.seq)
  for _, crossing in ipairs(crossings) do journal('alert', at, hold.blob, table.concat(crossing, ' '), '', hold.seq) end
  for _, account in ipairs(hold.accounts) do
    if account.exists then
      local fields = { 's', digits(account.spent), 'h', digits(account.held), 'o', digits(account.overrun), 't', digits(seq) }
      local function put(name, value) fields[#fields + 1] = name; fields[#fields + 1] = value end
      if account.toldMore then put('r', account.told) end
      if account.second then
        put('S' .. digits(account.second), digits(account.spentIn[account.second]))
        put('H' .. digits(account.second), digits(account.heldIn[account.second]))
      end
      call('HSET', account.key, unpack(fields))
      if account.ends == '' then call('PEXPIRE', account.key, IDLE) end
    end
  end
  touch(hold.accounts)
  call('HSET', hold.key, 's', state, 'c', hold.closed, 'h', how, 'v', hold.overrun, 'z', digits(closedBy))
  call('PEXPIRE', hold.key, hold.life)
  call('ZREM', OPEN, memberOf(hold.part, hold.lines))
  if call('LPUSH', CLOSED, hold.part) == 1 then call('PEXPIRE', CLOSED, IDLE) end
  call('LTRIM', CLOSED, 0, ${CLOSED_MAX - 1})
  saveMeta()
  return holdAnswer(hold, 0, crossings)
end

-- Holds whose time is over, oldest first: the work may have been done, so all of it stays charged.
local function sweep(most)
  local answers = {}
  for _, member in ipairs(call('ZRANGEBYSCORE', OPEN, '-inf', digits(at), 'LIMIT', 0, most)) do
    local hold = loadHold(string.match(member, '^[^\\n]+'))
    if hold and hold.state == '' then answers[#answers + 1] = resolveHold(hold, 'expire', nil, '')
    else call('ZREM', OPEN, member) end
  end
  return answers
end

-- On the way of other operations, in the real book: a clock that was moved is one console's own idea, and ends nobody's hold.
local function sweepByTheWay()
  if string.sub(prefix, 1, ${'spillway:real:'.length}) ~= 'spillway:real:' then return {} end
  local before = at
  at = now
  local answers = sweep(${SWEEP_MAX})
  at = before
  return answers
end

-- Operations ---------------------------------------------------------------------------------------------------------------
local operations = {}

-- KEYS: 7 reservation, 8 idempotency key, then the account of each line
-- ARGV: 4 clock moved (1), 5 expires, 6 id (coded), 7 reservation, then nine of each line
function operations.reserve()
  local moved, expires, part, blob = ARGV[4] == '1', tonumber(ARGV[5]), ARGV[6], ARGV[7]
  if not moved then at = now end
  local before = call('GET', KEYS[8])
  if before then
    local hold = loadHold(before)
    if hold then return { 'repeated', digits(now), digits(at), holdAnswer(hold, 1, {}), {} } end
  end
  if call('EXISTS', KEYS[7]) == 1 then return { 'id-used', digits(now) } end
  local lines = {}
  for first = 8, #ARGV, 9 do
    local line = { rest = ARGV[first], unit = ARGV[first + 1], amount = tonumber(ARGV[first + 2]), limit = ARGV[first + 3], rolling = ARGV[first + 4] == '1', starts = ARGV[first + 5], ends = ARGV[first + 6], alerts = ARGV[first + 7], zone = ARGV[first + 8] }
    if not moved and line.starts ~= '' and (now < tonumber(line.starts) or now >= tonumber(line.ends)) then
      return { 'clock-moved', digits(now) }
    end
    lines[#lines + 1] = line
  end
  local swept = sweepByTheWay()

  local accounts, refusals = {}, {}
  for index, line in ipairs(lines) do
    local account = load(line.rest, line.rolling)
    accounts[index] = account
    local limit = effective(line.limit, account.granted)
    local spent, held = used(account)
    -- Where there is no limit, what is spent and held still stays an amount.
    if spent + held + line.amount > (limit or AMOUNT_MAX) then
      refusals[#refusals + 1] = { digits(index - 1), digits(limit or AMOUNT_MAX), digits(spent), digits(held), account.exists and firstExpiry(line.rest) or '', account.exists and line.rolling and freeAt(account, line.amount, limit or AMOUNT_MAX, spent + held) or '' }
    end
  end
  if #refusals > 0 then return { 'refused', digits(now), digits(at), refusals, statesOf(accounts), swept } end

  local life, held = at, {}
  for index, line in ipairs(lines) do
    local account = accounts[index]
    account.limit = line.limit
    account.largest = largestAfter(account, effective(line.limit, account.granted))
    account.held = account.held + line.amount
    assertSound(account)
    life = max(life, line.ends == '' and at + ${KEY_MS} or tonumber(line.ends))
    held[index] = line.rest .. ' ' .. line.unit .. ' ' .. digits(line.amount) .. ' ' .. (line.rolling and '1' or '0') .. '\\n'
  end
  life = min(IDLE * 2, max(life, expires) - at + GRACE)
  -- From here on nothing can fail.
  local entry = journal('reserve', at, blob, '', '', nil)
  for index, line in ipairs(lines) do
    local account = accounts[index]
    account.alerts, account.ends, account.zone = line.alerts, line.ends, line.zone
    local fields = { 'h', digits(account.held), 'l', account.limit, 'm', account.largest, 't', digits(entry), 'p', line.alerts, 'e', line.ends, 'z', line.zone }
    local function put(name, value) fields[#fields + 1] = name; fields[#fields + 1] = value end
    if not account.exists then
      account.first = entry
      for name, value in pairs({ s = '0', o = '0', g = '0', r = '', f = digits(entry) }) do put(name, value) end
    end
    if line.rolling then
      local second, from = floor(at / 1000), firstSecond()
      account.heldIn[second] = (account.heldIn[second] or 0) + line.amount
      account.spentIn[second] = account.spentIn[second] or 0
      put('H' .. digits(second), digits(account.heldIn[second]))
      put('S' .. digits(second), digits(account.spentIn[second]))
      -- One with a hold stays, so that a clock that was set back cannot open its second again and take the hold off that.
      for old, sum in pairs(account.heldIn) do
        if old < from and sum == 0 then
          call('HDEL', account.key, 'H' .. digits(old), 'S' .. digits(old))
          account.heldIn[old], account.spentIn[old] = nil, nil
        end
      end
    end
    call('HSET', account.key, unpack(fields))
    if not account.exists then born(account, lifeOf(line.ends, expires))
    elseif line.ends == '' or expires > tonumber(line.ends) then call('PEXPIRE', account.key, digits(lifeOf(line.ends, expires))) end
    account.exists = true
  end
  touch(accounts)
  call('SET', KEYS[8], part, 'PX', digits(life))
  call('HSET', KEYS[7], 'b', blob, 'a', digits(at), 'x', digits(expires), 's', '', 'q', digits(entry), 'l', table.concat(held), 'k', digits(life))
  call('PEXPIRE', KEYS[7], IDLE * 2)
  call('ZADD', OPEN, digits(expires), memberOf(part, lines))
  call('PEXPIRE', OPEN, IDLE * 2)
  saveMeta()
  return { 'reserved', digits(now), digits(at), statesOf(accounts), swept }
end

-- KEYS: 7 reservation. ARGV: 4 id (coded), 5 which resolution, 6 how, 7 to 9 charges in tokens, nano-dollars, requests ('' as reserved)
function operations.resolve()
  local hold = loadHold(ARGV[4])
  if not hold then return { 'not-found', digits(now) } end
  local answer
  if hold.state ~= '' then answer = holdAnswer(hold, 1, {})
  else
    local charges = ARGV[7] ~= '' and { ['tokens'] = tonumber(ARGV[7]), ['nano-dollars'] = tonumber(ARGV[8]), ['requests'] = tonumber(ARGV[9]) } or nil
    local tooLarge
    answer, tooLarge = resolveHold(hold, ARGV[5], charges, ARGV[6])
    if tooLarge then return { 'too-large', digits(now), tooLarge } end
  end
  return { 'resolved', digits(now), answer, sweepByTheWay() }
end

-- KEYS: 7 account. ARGV: 4 account, 5 rolling (1), 6 amount, 7 limit, 8 end, 9 thresholds, 10 zone, 11 grant
function operations.grant()
  local account, amount = load(ARGV[4], ARGV[5] == '1'), tonumber(ARGV[6])
  if account.granted + amount > AMOUNT_MAX then return { 'too-much', digits(now) } end
  account.granted = account.granted + amount
  local fresh = not account.exists
  local entry = journal('grant', at, ARGV[11], '', '', nil)
  local fields = { 'g', digits(account.granted), 't', digits(entry) }
  if fresh then
    account.limit, account.ends, account.alerts, account.zone = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
    local largest = effective(account.limit, account.granted)
    for name, value in pairs({ s = '0', h = '0', o = '0', l = account.limit, m = largest and digits(largest) or '', r = '', p = account.alerts, e = account.ends, z = account.zone, f = digits(entry) }) do
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
  end
  call('HSET', account.key, unpack(fields))
  if fresh then born(account, lifeOf(account.ends, at))
  elseif account.ends == '' then call('PEXPIRE', account.key, IDLE) end
  account.exists = true
  touch({ account })
  saveMeta()
  return { 'granted', digits(now), stateOf(account) }
end

-- ARGV: 4 how many at most
function operations.expire()
  return { 'expired', digits(now), sweep(tonumber(ARGV[4])) }
end

-- Accounts as they stand. ARGV: from 4 on an account and whether it is rolling (1)
function operations.accounts()
  local states = {}
  for first = 4, #ARGV, 2 do
    local account = load(ARGV[first], ARGV[first + 1] == '1')
    if account.exists then states[#states + 1] = stateOf(account) end
  end
  return { 'accounts', digits(now), states }
end

-- Balances and open holds of one moment, for the audit. ARGV: 4 how many accounts at most, 5 how many holds
function operations.snapshot()
  local accounts, holds = {}, {}
  for _, rest in ipairs(call('ZREVRANGE', TOUCHED, 0, tonumber(ARGV[4]) - 1)) do
    local list = call('HMGET', prefix .. 'a:' .. rest, 's', 'h', 'o', 'g', 'm', 'f')
    if list[6] then accounts[#accounts + 1] = { rest, unpack(list) } end
  end
  for _, member in ipairs(call('ZRANGE', OPEN, 0, tonumber(ARGV[5]) - 1)) do
    local part = string.match(member, '^[^\\n]+')
    local list = call('HMGET', prefix .. 'r:' .. part, 's', 'q', 'l')
    holds[#holds + 1] = { part, list[1] or '?', list[2] or '0', list[3] or '' }
  end
  return { 'snapshot', digits(now), digits(seq), digits(count), digits(call('ZCARD', TOUCHED)), digits(call('ZCARD', OPEN)), accounts, holds }
end

return operations[operation]()
`;

export const ledgerScriptSha = createHash('sha1').update(ledgerScript).digest('hex');
