/**
 * The law of the ledger in Lua, as shared/engine/ledger/decide.ts says it: one script, one operation a call, atomic as every
 * script is. Whatever can fail is computed before the first write, because Redis takes no write back.
 *
 * Amounts are whole numbers up to 1e15, exact in Lua's doubles. They are stored and answered as digits: Lua would write 1e+15.
 * What does not change stays the text it was, and functions are made only where they are called: both cost more than Redis does.
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
local operation, prefix, atText = ARGV[1], ARGV[2], ARGV[3]
local at = tonumber(atText)
local AMOUNT_MAX, IDLE = ${AMOUNT_MAX}, '${IDLE_MS}'
local call, floor, max, format = redis.call, math.floor, math.max, string.format

local function digits(number) return format('%.0f', number) end

local time = call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = floor(micros / 1000)

-- Journal ------------------------------------------------------------------------------------------------------------------
-- Numbers of entries are microseconds of this clock, one more where two would be equal: they rise within a tenant, and entries
-- of several tenants can be merged by them.
local meta = call('HMGET', META, 'seq', 'count', 'day')
local seq, count = tonumber(meta[1] or 0), tonumber(meta[2] or 0)
local seqText

-- o operation, a when, b the reservation or grant, h how it was resolved, c charges, q number of the entry that reserved it
local function journal(o, a, b, h, c, q)
  seq = max(seq + 1, micros)
  seqText = digits(seq)
  count = count + 1
  call('XADD', JOURNAL, 'MAXLEN', '~', ${JOURNAL_MAX}, seqText .. '-0', 'o', o, 'a', a, 'b', b, 'h', h, 'c', c, 'q', q or seqText)
  return seqText
end

local function saveMeta()
  local today = floor(now / 86400000)
  if tonumber(meta[3] or 0) == today then
    call('HSET', META, 'seq', seqText, 'count', digits(count))
    return
  end
  meta[3] = digits(today)
  call('HSET', META, 'seq', seqText, 'count', digits(count), 'day', meta[3])
  -- A name of more than 64 bytes: without one Redis keeps a short list as a plain row, and every touch walks along it.
  call('ZADD', TOUCHED, '0', '${'-'.repeat(65)}')
  for _, key in ipairs({ META, JOURNAL, CLOSED, TOUCHED, ENDS }) do call('PEXPIRE', key, IDLE) end
end

-- Accounts -----------------------------------------------------------------------------------------------------------------
-- s spent, h held, o overrun, g granted, l limit ('' none), m largest limit ever ('' was none), t last touched, f first entry,
-- r thresholds told, p all thresholds, e end ('' none), z zone; of the rolling minute also S<second> and H<second>.
-- In memory they are texts as well; spent and held besides as numbers.
local function load(rest, rolling)
  local key = prefix .. 'a:' .. rest
  if not rolling then
    local f = call('HMGET', key, 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
    if not f[7] then
      return { key = key, rest = rest, exists = false, rolling = false, spent = 0, held = 0, s = '0', h = '0', o = '0', g = '0', l = '', m = '', f = '0', r = '', p = '', e = '', z = '', over = false, told = false }
    end
    return { key = key, rest = rest, exists = true, rolling = false, spent = tonumber(f[1]), held = tonumber(f[2]), s = f[1], h = f[2], o = f[3], g = f[4], l = f[5], m = f[6], f = f[7], r = f[8], p = f[9], e = f[10], z = f[11], over = false, told = false }
  end
  local flat = call('HGETALL', key)
  local account = { key = key, rest = rest, rolling = true, exists = #flat > 0, s = '0', h = '0', o = '0', g = '0', l = '', m = '', f = '0', r = '', p = '', e = '', z = '', spentIn = {}, heldIn = {} }
  for index = 1, #flat, 2 do
    local name, value = flat[index], flat[index + 1]
    local second = tonumber(string.match(name, '^[SH](%d+)$'))
    if not second then account[name] = value
    elseif string.sub(name, 1, 1) == 'S' then account.spentIn[second] = tonumber(value)
    else account.heldIn[second] = tonumber(value) end
  end
  account.spent, account.held = tonumber(account.s), tonumber(account.h)
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
  local s, h = account.s, account.h
  if account.rolling then
    local spent, held = used(account)
    s, h = digits(spent), digits(held)
  end
  return { account.rest, account.l, account.g, s, h, account.o, account.r, account.p, account.e, account.z }
end

local function statesOf(accounts)
  local states = {}
  for _, account in ipairs(accounts) do if account.exists then states[#states + 1] = stateOf(account) end end
  return states
end

-- nil = no limit
local function effective(limit, granted)
  if limit == '' then return nil end
  if granted == '0' then return tonumber(limit) end
  return math.min(AMOUNT_MAX, tonumber(limit) + tonumber(granted))
end

-- Conservation: what is spent and held passes the largest limit only by marked overrun. Nothing was written when this fails.
local function assertSound(account)
  local spent, held = account.spent, account.held
  if spent < 0 or held < 0 or spent + held > 9007199254740991 then error('Broken rule: spent ' .. account.s .. ' and held ' .. account.h .. ' of ' .. account.rest) end
  if account.rolling or account.m == '' then return end
  local largest = tonumber(account.m)
  if spent + held > largest and spent + held > largest + tonumber(account.o) then
    error('Broken rule: ' .. account.rest .. ' is over its limit')
  end
end

local function lifeOf(ends, expires)
  if ends == '' then return IDLE end
  return digits(math.min(${2 * IDLE_MS}, max(0, max(tonumber(ends), expires) - at) + ${GRACE_MS}))
end

-- After the first write to a fresh account: when it ends, and whether others have ended and can be forgotten.
local function born(account, life)
  call('PEXPIRE', account.key, life)
  call('ZADD', ENDS, digits(now + tonumber(life)), account.rest)
  for _, rest in ipairs(call('ZRANGEBYSCORE', ENDS, '-inf', digits(now), 'LIMIT', 0, 4)) do
    local left = call('PTTL', prefix .. 'a:' .. rest)
    if left > 0 then call('ZADD', ENDS, digits(now + left), rest)
    else call('ZREM', ENDS, rest); call('ZREM', TOUCHED, rest) end
  end
end

local function touch(accounts)
  local members = {}
  for index, account in ipairs(accounts) do
    if account.exists then
      members[#members + 1] = index == 1 and seqText or digits(seq + index - 1)
      members[#members + 1] = account.rest
    end
  end
  if #members > 0 then call('ZADD', TOUCHED, unpack(members)) end
end

-- Holds --------------------------------------------------------------------------------------------------------------------
-- A hold is a hash: b what was asked, a opened, x expires, s state ('' open), q number of its entry, l lines, n its name among
-- the open holds, k life after it is resolved; then c closed, h how, v overrun in tokens, z number of the entry that closed it.
-- Among the open holds it is its id and the accounts it holds something on, each on a line of its own.
-- What ends holds, made only where one is looked at.
local function holding()
  local function loadHold(part)
    local key = prefix .. 'r:' .. part
    local f = call('HMGET', key, 'b', 'a', 's', 'q', 'l', 'n', 'k', 'c', 'h', 'v')
    if not f[1] then return nil end
    local lines, accounts = {}, {}
    for rest, unit, amount, rolling in string.gmatch(f[5], '([^ ]+) ([^ ]+) (%d+) ([01])\\n') do
      local account = load(rest, rolling == '1')
      -- An account that ended, and may have been opened anew since, is charged no more.
      if account.exists and account.f ~= f[4] and tonumber(account.f) > tonumber(f[4]) then account.exists = false end
      lines[#lines + 1] = { unit = unit, text = amount, amount = tonumber(amount) }
      accounts[#accounts + 1] = account
    end
    return { key = key, part = part, b = f[1], a = f[2], s = f[3], q = f[4], n = f[6], k = f[7], c = f[8] or '', h = f[9] or '', v = f[10] or '0', lines = lines, accounts = accounts }
  end

  local function holdAnswer(hold, repeated, crossings)
    return { repeated, hold.b, hold.a, hold.s, hold.c, hold.h, hold.v, statesOf(hold.accounts), crossings }
  end

  -- used x 100 >= limit x percent, without leaving the exact numbers.
  local function reached(spent, limit, percent)
    local whole, part = floor(limit / 100), limit % 100
    local over = spent - whole * percent
    return over > 99 or over * 100 >= part * percent
  end

  -- Thresholds that are reached and were not told: they are told now.
  local function crossed(account, index, crossings)
    local limit = effective(account.l, account.g)
    if account.rolling or not limit or limit == 0 then return end
    for percent in string.gmatch(account.p, '%d+') do
      if reached(account.spent, limit, tonumber(percent)) and not string.find(',' .. account.r .. ',', ',' .. percent .. ',', 1, true) then
        account.r = account.r == '' and percent or account.r .. ',' .. percent
        account.told = true
        crossings[#crossings + 1] = { digits(index - 1), percent, account.s, digits(limit) }
      end
    end
  end

  -- charges by unit, nil = as reserved. A charge that would leave the range of amounts is refused: nil and the line it is.
  local function resolveHold(hold, state, charges, how)
    local lines, accounts = hold.lines, hold.accounts
    if charges then
      for index, line in ipairs(lines) do
        local amount, account = tonumber(charges[line.unit]), accounts[index]
        if account.exists and amount > line.amount and account.spent + account.held - line.amount + amount > AMOUNT_MAX then
          return nil, { line.unit, line.text, account.s, account.h }
        end
      end
    end
    local posted, crossings = {}, {}
    hold.v = '0'
    for index, line in ipairs(lines) do
      local account, text, overText = accounts[index], charges and charges[line.unit] or line.text, '0'
      local amount = tonumber(text)
      if amount > line.amount then overText = digits(amount - line.amount) end
      posted[index] = text .. ' ' .. overText
      if line.unit == 'tokens' then hold.v = overText end
      if account.exists then
        account.held, account.spent = account.held - line.amount, account.spent + amount
        account.s, account.h = digits(account.spent), digits(account.held)
        if overText ~= '0' then
          account.o = digits(tonumber(account.o) + tonumber(overText))
          account.over = true
        end
        assertSound(account)
        if account.rolling then
          local second = floor(tonumber(hold.a) / 1000)
          account.heldIn[second] = (account.heldIn[second] or 0) - line.amount
          account.spentIn[second] = (account.spentIn[second] or 0) + amount
          account.second = second
        elseif account.p ~= '' then crossed(account, index, crossings) end
      end
    end
    -- From here on nothing can fail.
    hold.s, hold.c, hold.h = state, atText, how
    local closedBy = journal(state, atText, hold.b, how, table.concat(posted, ' '), hold.q)
    for _, crossing in ipairs(crossings) do journal('alert', atText, hold.b, table.concat(crossing, ' '), '', hold.q) end
    for _, account in ipairs(accounts) do
      if account.exists then
        call('HSET', account.key, 's', account.s, 'h', account.h, 't', seqText)
        if account.over then call('HSET', account.key, 'o', account.o) end
        if account.told then call('HSET', account.key, 'r', account.r) end
        local second = account.second
        if second then
          call('HSET', account.key, 'S' .. digits(second), digits(account.spentIn[second]), 'H' .. digits(second), digits(account.heldIn[second]))
        end
        if account.e == '' then call('PEXPIRE', account.key, IDLE) end
      end
    end
    touch(accounts)
    call('HSET', hold.key, 's', state, 'c', atText, 'h', how, 'v', hold.v, 'z', closedBy)
    call('PEXPIRE', hold.key, hold.k)
    call('ZREM', OPEN, hold.n)
    local length = call('LPUSH', CLOSED, hold.part)
    if length == 1 then call('PEXPIRE', CLOSED, IDLE)
    elseif length > ${CLOSED_MAX} then call('LTRIM', CLOSED, 0, ${CLOSED_MAX - 1}) end
    saveMeta()
    return holdAnswer(hold, 0, crossings)
  end

  -- Holds whose time is over, oldest first: the work may have been done, so all of it stays charged.
  local function sweep(most)
    local answers = {}
    for _, member in ipairs(call('ZRANGEBYSCORE', OPEN, '-inf', atText, 'LIMIT', 0, most)) do
      local hold = loadHold(string.match(member, '^[^\\n]+'))
      if hold and hold.s == '' then answers[#answers + 1] = resolveHold(hold, 'expire', nil, '')
      else call('ZREM', OPEN, member) end
    end
    return answers
  end

  return loadHold, holdAnswer, resolveHold, sweep
end

-- On the way of other operations, in the real book: a clock that was moved is one console's own idea, and ends nobody's hold.
local function sweepByTheWay()
  if string.find(prefix, 'spillway:real:', 1, true) ~= 1 then return {} end
  local nowText = digits(now)
  if #call('ZRANGEBYSCORE', OPEN, '-inf', nowText, 'LIMIT', 0, 1) == 0 then return {} end
  local before, beforeText = at, atText
  at, atText = now, nowText
  local _, _, _, sweep = holding()
  local answers = sweep(${SWEEP_MAX})
  at, atText = before, beforeText
  return answers
end

-- Operations ---------------------------------------------------------------------------------------------------------------
-- KEYS: 7 reservation, 8 idempotency key, then the account of each line
-- ARGV: 4 clock moved (1), 5 expires, 6 id (coded), 7 reservation, then nine of each line
if operation == 'reserve' then
  local moved, expires, part, blob = ARGV[4] == '1', tonumber(ARGV[5]), ARGV[6], ARGV[7]
  if not moved then at, atText = now, digits(now) end
  local before = call('GET', KEYS[8])
  if before then
    local loadHold, holdAnswer = holding()
    local hold = loadHold(before)
    -- Of a key whose reservation was voided nothing was ever sent: the next one under it is a new one.
    if hold and hold.s ~= 'void' then return { 'repeated', '', atText, holdAnswer(hold, 1, {}), {} } end
  end
  if call('EXISTS', KEYS[7]) == 1 then return { 'id-used' } end
  if not moved then
    for first = 8, #ARGV, 9 do
      local starts = ARGV[first + 5]
      if starts ~= '' and (now < tonumber(starts) or now >= tonumber(ARGV[first + 6])) then return { 'clock-moved', digits(now) } end
    end
  end
  local swept = sweepByTheWay()

  local accounts, refusals = {}, nil
  for first = 8, #ARGV, 9 do
    local amount, account = tonumber(ARGV[first + 2]), load(ARGV[first], ARGV[first + 4] == '1')
    accounts[#accounts + 1] = account
    local spent, held = used(account)
    -- Where there is no limit, what is spent and held still stays an amount.
    local limit = effective(ARGV[first + 3], account.g) or AMOUNT_MAX
    if spent + held + amount > limit then
      local earliest, free = '', ''
      if account.exists then
        local holds = call('ZRANGE', OPEN, 0, ${LOOK_MAX - 1}, 'WITHSCORES')
        for index = 1, #holds, 2 do
          if string.find(holds[index], '\\n' .. account.rest .. '\\n', 1, true) then
            earliest = digits(tonumber(holds[index + 1]))
            break
          end
        end
        if account.rolling then
          -- When enough of the rolling minute has passed.
          local sums, seconds, from, left = {}, {}, firstSecond(), spent + held
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
            if left + amount <= limit then
              free = digits((second + ${ROLLING_SECONDS}) * 1000)
              break
            end
          end
        end
      end
      refusals = refusals or {}
      refusals[#refusals + 1] = { digits(#accounts - 1), digits(limit), digits(spent), digits(held), earliest, free }
    end
  end
  if refusals then return { 'refused', '', atText, refusals, statesOf(accounts), swept } end

  local life, names, member, first = expires, {}, part .. '\\n', 8
  for index, account in ipairs(accounts) do
    local text, limitText, ends = ARGV[first + 2], ARGV[first + 3], ARGV[first + 6]
    local limit = effective(limitText, account.g)
    if not account.exists then account.m = limit and digits(limit) or ''
    elseif account.m ~= '' then
      if not limit then account.m = ''
      elseif limit > tonumber(account.m) then account.m = digits(limit) end
    end
    account.l, account.p, account.e, account.z = limitText, ARGV[first + 7], ends, ARGV[first + 8]
    account.held = account.held + tonumber(text)
    account.h = digits(account.held)
    assertSound(account)
    life = max(life, ends == '' and at + ${KEY_MS} or tonumber(ends))
    names[index] = account.rest .. ' ' .. ARGV[first + 1] .. ' ' .. text .. ' ' .. ARGV[first + 4] .. '\\n'
    -- A hold of nothing frees nothing when it goes.
    if text ~= '0' then member = member .. account.rest .. '\\n' end
    first = first + 9
  end
  local lifeText = digits(math.min(${2 * IDLE_MS}, life - at + ${GRACE_MS}))
  -- From here on nothing can fail.
  local entry = journal('reserve', atText, blob, '', '', nil)
  for _, account in ipairs(accounts) do
    local ends = account.e
    if account.exists then
      call('HSET', account.key, 'h', account.h, 'l', account.l, 'm', account.m, 't', entry, 'p', account.p, 'e', ends, 'z', account.z)
      if ends == '' or expires > tonumber(ends) then call('PEXPIRE', account.key, lifeOf(ends, expires)) end
    else
      call('HSET', account.key, 'h', account.h, 'l', account.l, 'm', account.m, 't', entry, 'p', account.p, 'e', ends, 'z', account.z, 's', '0', 'o', '0', 'g', '0', 'r', '', 'f', entry)
      born(account, lifeOf(ends, expires))
      account.exists = true
    end
  end
  for index, account in ipairs(accounts) do
    if account.rolling then
      local second, from = floor(at / 1000), firstSecond()
      account.heldIn[second] = (account.heldIn[second] or 0) + tonumber(ARGV[8 + 9 * (index - 1) + 2])
      account.spentIn[second] = account.spentIn[second] or 0
      call('HSET', account.key, 'H' .. digits(second), digits(account.heldIn[second]), 'S' .. digits(second), digits(account.spentIn[second]))
      -- One with a hold stays, so that a clock that was set back cannot open its second again and take the hold off that.
      for old, sum in pairs(account.heldIn) do
        if old < from and sum == 0 then
          call('HDEL', account.key, 'H' .. digits(old), 'S' .. digits(old))
          account.heldIn[old], account.spentIn[old] = nil, nil
        end
      end
    end
  end
  touch(accounts)
  call('SET', KEYS[8], part, 'PX', lifeText)
  call('HSET', KEYS[7], 'b', blob, 'a', atText, 'x', ARGV[5], 's', '', 'q', entry, 'l', table.concat(names), 'n', member, 'k', lifeText)
  call('PEXPIRE', KEYS[7], '${2 * IDLE_MS}')
  call('ZADD', OPEN, ARGV[5], member)
  call('PEXPIRE', OPEN, '${2 * IDLE_MS}')
  saveMeta()
  -- What the lines said of their accounts the caller knows.
  local states = {}
  for index, account in ipairs(accounts) do
    local s, h = account.s, account.h
    if account.rolling then
      local spent, held = used(account)
      s, h = digits(spent), digits(held)
    end
    states[index] = { account.g, s, h, account.o, account.r }
  end
  return { 'reserved', '', atText, states, swept }
end

-- KEYS: 7 reservation. ARGV: 4 id (coded), 5 which resolution, 6 how, 7 to 9 charges in tokens, nano-dollars, requests ('' as reserved)
if operation == 'resolve' then
  local loadHold, holdAnswer, resolveHold = holding()
  local hold = loadHold(ARGV[4])
  if not hold then return { 'not-found' } end
  local answer
  if hold.s ~= '' then answer = holdAnswer(hold, 1, {})
  else
    local charges = ARGV[7] ~= '' and { ['tokens'] = ARGV[7], ['nano-dollars'] = ARGV[8], ['requests'] = ARGV[9] } or nil
    local tooLarge
    answer, tooLarge = resolveHold(hold, ARGV[5], charges, ARGV[6])
    if tooLarge then return { 'too-large', '', tooLarge } end
  end
  return { 'resolved', '', answer, sweepByTheWay() }
end

-- KEYS: 7 account. ARGV: 4 account, 5 rolling (1), 6 amount, 7 limit, 8 end, 9 thresholds, 10 zone, 11 grant
if operation == 'grant' then
  local account = load(ARGV[4], ARGV[5] == '1')
  local granted = tonumber(account.g) + tonumber(ARGV[6])
  if granted > AMOUNT_MAX then return { 'too-much' } end
  account.g = digits(granted)
  local entry = journal('grant', atText, ARGV[11], '', '', nil)
  if account.exists then
    call('HSET', account.key, 'g', account.g, 't', entry)
    if account.e == '' then call('PEXPIRE', account.key, IDLE) end
  else
    account.l, account.e, account.p, account.z = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
    local largest = effective(account.l, account.g)
    call('HSET', account.key, 'g', account.g, 't', entry, 's', '0', 'h', '0', 'o', '0', 'l', account.l, 'm', largest and digits(largest) or '', 'r', '', 'p', account.p, 'e', account.e, 'z', account.z, 'f', entry)
    born(account, lifeOf(account.e, at))
    account.exists = true
  end
  touch({ account })
  saveMeta()
  return { 'granted', '', stateOf(account) }
end

-- ARGV: 4 how many at most
if operation == 'expire' then
  local _, _, _, sweep = holding()
  return { 'expired', '', sweep(tonumber(ARGV[4])) }
end

-- Accounts as they stand. ARGV: from 4 on an account and whether it is rolling (1)
if operation == 'accounts' then
  local states = {}
  for first = 4, #ARGV, 2 do
    local account = load(ARGV[first], ARGV[first + 1] == '1')
    if account.exists then states[#states + 1] = stateOf(account) end
  end
  return { 'accounts', '', states }
end

-- Balances and open holds of one moment, for the audit. ARGV: 4 how many accounts at most, 5 how many holds
if operation == 'snapshot' then
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
return redis.error_reply('Broken rule: there is no operation ' .. operation)
`;

export const ledgerScriptSha = createHash('sha1').update(ledgerScript).digest('hex');
