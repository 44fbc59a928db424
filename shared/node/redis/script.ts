/**
 * The law of the ledger in Lua, as shared/engine/ledger/decide.ts says it: one script, a few operations of a tenant a call, one
 * after the other and all in one breath. Each is decided by itself: one that fails leaves the others as they are. Whatever can
 * fail is computed before its first write, because Redis takes no write back.
 *
 * Amounts are whole numbers up to 1e15, exact in Lua's doubles. They are stored and answered as digits: Lua would write 1e+15.
 * What does not change stays the text it was, and functions are made only where they are called: both cost more than Redis does.
 * Names are made from the tenant's prefix. The caller names each key it knows; a sweep and a resolution also reach accounts and
 * holds that it cannot know, which lie in the same hash slot.
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
/** Closed ids beyond that are dropped in blocks. */
const CLOSED_BLOCK = 100;
export const SWEEP_MAX = 100;
/** Open holds that a refusal looks through for the first that expires. */
const LOOK_MAX = 10_000;

export const ledgerScript = `
-- KEYS: 1 meta, 2 journal, 3 open holds, 4 closed ids, 5 accounts by touch, 6 accounts by end, then what operations name
-- ARGV: 1 prefix of the tenant, then of each operation how many arguments it has, and those
local META, JOURNAL, OPEN, CLOSED, TOUCHED, ENDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local prefix = ARGV[1]
-- The time of the operation that is under way, in ms.
local at, atText
local AMOUNT_MAX, IDLE = ${AMOUNT_MAX}, '${IDLE_MS}'
local call, floor, max, format = redis.call, math.floor, math.max, string.format

-- %d takes half the time of %.0f, and cuts large numbers where a long has 32 bits.
local WHOLE = format('%d', 1e15) == '1000000000000000' and '%d' or '%.0f'
local function digits(number) return format(WHOLE, number) end

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
  local number = max(seq + 1, micros)
  local text = digits(number)
  -- Where memory is full this is what fails, and nothing was done.
  call('XADD', JOURNAL, 'MAXLEN', '~', '${JOURNAL_MAX}', text .. '-0', 'o', o, 'a', a, 'b', b, 'h', h, 'c', c, 'q', q or text)
  seq, seqText, count = number, text, count + 1
  return text
end

-- Accounts that were touched, by the number of the entry, and whether there are new holds: written once, after all operations.
local touched, reserved = {}, false
local function touch(accounts)
  for index = 1, #accounts do
    local account = accounts[index]
    if account.exists then touched[account.rest] = index == 1 and seqText or digits(seq + index - 1) end
  end
end

-- After all operations, where any of them wrote.
local function saveMeta()
  local members = {}
  for rest, number in pairs(touched) do
    members[#members + 1] = number
    members[#members + 1] = rest
  end
  -- In portions, because a call takes no more values than the stack has room for.
  for first = 1, #members, 2000 do call('ZADD', TOUCHED, unpack(members, first, math.min(first + 1999, #members))) end
  if reserved then call('PEXPIRE', OPEN, '${2 * IDLE_MS}') end
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
-- s spent, h held, o overrun, g granted, l limit ('' none), m largest limit ever ('' was none), f first entry,
-- r thresholds told, p all thresholds, e end ('' none), z zone; of the rolling minute also S<second> and H<second>.
-- In memory they are texts as well; spent and held besides as numbers. No more than 16 fields: the next doubles the table.
local function read(rest, rolling)
  local key = prefix .. 'a:' .. rest
  if not rolling then
    local f = call('HMGET', key, 's', 'h', 'o', 'g', 'l', 'm', 'f', 'r', 'p', 'e', 'z')
    if not f[7] then
      return { key = key, rest = rest, exists = false, spent = 0, held = 0, s = '0', h = '0', o = '0', g = '0', l = '', m = '', f = '0', r = '', p = '', e = '', z = '' }
    end
    return { key = key, rest = rest, exists = true, spent = tonumber(f[1]), held = tonumber(f[2]), s = f[1], h = f[2], o = f[3], g = f[4], l = f[5], m = f[6], f = f[7], r = f[8], p = f[9], e = f[10], z = f[11] }
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

-- Operations of one call mostly reach the same accounts. What was read stays as it is written, until an operation fails.
local loaded = {}
local function load(rest, rolling)
  local account = loaded[rest]
  if not account then
    account = read(rest, rolling)
    loaded[rest] = account
  end
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
  return table.concat({ account.rest, account.l, account.g, s, h, account.o, account.r, account.p, account.e, account.z }, ' ')
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

-- Holds --------------------------------------------------------------------------------------------------------------------
-- A hold is a hash: b what was asked, a opened, q number of its entry, l lines, n its name among the open holds, k life after
-- it is resolved; then z how it ended: state, when, overrun in tokens, number of the entry that closed it, and how in words.
-- Among the open holds it is its id and the accounts it holds something on, each on a line of its own.
-- What ends holds, made only where one is looked at.
local holdingMade
local function holding()
  if holdingMade then return unpack(holdingMade) end

  local function loadHold(part)
    local key = prefix .. 'r:' .. part
    local f = call('HMGET', key, 'b', 'a', 'q', 'l', 'n', 'k', 'z')
    if not f[1] then return nil end
    local lines, accounts = {}, {}
    for rest, unit, amount, rolling in string.gmatch(f[4], '([^ ]+) ([^ ]+) (%d+) ([01])\\n') do
      local account = load(rest, rolling == '1')
      -- An account that ended, and may have been opened anew since, is charged no more.
      if account.exists and account.f ~= f[3] and tonumber(account.f) > tonumber(f[3]) then account = { rest = rest, exists = false } end
      lines[#lines + 1] = { unit = unit, text = amount, amount = tonumber(amount) }
      accounts[#accounts + 1] = account
    end
    return { key = key, part = part, b = f[1], a = f[2], q = f[3], n = f[5], k = f[6], z = f[7] or '', lines = lines, accounts = accounts }
  end

  local function holdAnswer(hold, repeated, crossings)
    return { repeated, hold.b, hold.a, hold.z, statesOf(hold.accounts), crossings }
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
    local posted, crossings, overrunTokens = {}, {}, '0'
    for index, line in ipairs(lines) do
      local account, text, overText = accounts[index], charges and charges[line.unit] or line.text, '0'
      local amount = tonumber(text)
      if amount > line.amount then overText = digits(amount - line.amount) end
      posted[index] = text .. ' ' .. overText
      if line.unit == 'tokens' then overrunTokens = overText end
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
    local closedBy = journal(state, atText, hold.b, how, table.concat(posted, ' '), hold.q)
    for _, crossing in ipairs(crossings) do journal('alert', atText, hold.b, table.concat(crossing, ' '), '', hold.q) end
    for _, account in ipairs(accounts) do
      if account.exists then
        call('HSET', account.key, 's', account.s, 'h', account.h)
        if account.over then call('HSET', account.key, 'o', account.o) end
        if account.told then call('HSET', account.key, 'r', account.r) end
        account.over, account.told = nil, nil
        local second = account.second
        if second then
          call('HSET', account.key, 'S' .. digits(second), digits(account.spentIn[second]), 'H' .. digits(second), digits(account.heldIn[second]))
          account.second = nil
        end
        if account.e == '' then call('PEXPIRE', account.key, IDLE) end
      end
    end
    touch(accounts)
    hold.z = table.concat({ state, atText, overrunTokens, closedBy, how }, ' ')
    call('HSET', hold.key, 'z', hold.z)
    call('PEXPIRE', hold.key, hold.k)
    call('ZREM', OPEN, hold.n)
    local length = call('LPUSH', CLOSED, hold.part)
    if length == 1 then call('PEXPIRE', CLOSED, IDLE)
    elseif length >= ${CLOSED_MAX + CLOSED_BLOCK} then call('LTRIM', CLOSED, '0', '${CLOSED_MAX - 1}') end
    return holdAnswer(hold, 0, crossings)
  end

  -- Holds whose time is over, oldest first: the work may have been done, so all of it stays charged.
  local function sweep(most)
    local answers = {}
    for _, member in ipairs(call('ZRANGEBYSCORE', OPEN, '-inf', atText, 'LIMIT', 0, most)) do
      local hold = loadHold(string.match(member, '^[^\\n]+'))
      if hold and hold.z == '' then answers[#answers + 1] = resolveHold(hold, 'expire', nil, '')
      else call('ZREM', OPEN, member) end
    end
    return answers
  end

  holdingMade = { loadHold, holdAnswer, resolveHold, sweep }
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
-- Of their arguments 1 is the name of the operation, 2 the caller's time in ms.
-- A line says, in one text: account, unit, amount, rolling (1), limit, start, end, thresholds (each may be ''), zone.
-- Operations of one call often say the same.
local said = {}
local function lineOf(text)
  local line = said[text]
  if not line then
    local rest, unit, amount, rolling, limit, starts, ends, alerts, zone = string.match(text, '^([^ ]+) ([^ ]+) (%d+) ([01]) (%d*) (%-?%d*) (%-?%d*) ([^ ]*) (.*)$')
    line = { rest = rest, amount = tonumber(amount), rolling = rolling == '1', limit = limit, starts = starts, ends = ends, alerts = alerts, zone = zone, hold = rest .. ' ' .. unit .. ' ' .. amount .. ' ' .. rolling .. '\\n' }
    said[text] = line
  end
  return line
end

-- 3 clock moved (1), 4 expires, 5 id (coded), 6 idempotency key (coded), 7 reservation, then each line
local function reserve(a)
  local moved, expires, part, blob = a[3] == '1', tonumber(a[4]), a[5], a[7]
  local holdKey, onceKey = prefix .. 'r:' .. part, prefix .. 'k:' .. a[6]
  if not moved then at, atText = now, digits(now) end
  local before = call('GET', onceKey)
  if before then
    local loadHold, holdAnswer = holding()
    local hold = loadHold(before)
    -- Of a key whose reservation was voided nothing was ever sent: the next one under it is a new one.
    if hold and string.sub(hold.z, 1, 5) ~= 'void ' then return { 'repeated', '', atText, holdAnswer(hold, 1, {}), {} } end
  end
  if call('EXISTS', holdKey) == 1 then return { 'id-used' } end
  local lines = {}
  for index = 8, #a do lines[index - 7] = lineOf(a[index]) end
  if not moved then
    for _, line in ipairs(lines) do
      if line.starts ~= '' and (now < tonumber(line.starts) or now >= tonumber(line.ends)) then return { 'clock-moved', digits(now) } end
    end
  end
  local swept = sweepByTheWay()

  local accounts, refusals = {}, nil
  for index, line in ipairs(lines) do
    local amount, account = line.amount, load(line.rest, line.rolling)
    accounts[index] = account
    local spent, held = used(account)
    -- Where there is no limit, what is spent and held still stays an amount.
    local limit = effective(line.limit, account.g) or AMOUNT_MAX
    if spent + held + amount > limit then
      local earliest, free = '', ''
      if account.exists then
        local holds = call('ZRANGE', OPEN, 0, ${LOOK_MAX - 1}, 'WITHSCORES')
        for at = 1, #holds, 2 do
          if string.find(holds[at], '\\n' .. account.rest .. '\\n', 1, true) then
            earliest = digits(tonumber(holds[at + 1]))
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
      refusals[#refusals + 1] = { digits(index - 1), digits(limit), digits(spent), digits(held), earliest, free }
    end
  end
  if refusals then return { 'refused', '', atText, refusals, statesOf(accounts), swept } end

  local life, names, changed, member = expires, {}, {}, part .. '\\n'
  for index, account in ipairs(accounts) do
    local line, largest = lines[index], account.m
    local ends, limit = line.ends, effective(line.limit, account.g)
    if not account.exists then account.m = limit and digits(limit) or ''
    elseif account.m ~= '' then
      if not limit then account.m = ''
      elseif limit > tonumber(account.m) then account.m = digits(limit) end
    end
    changed[index] = account.m ~= largest or account.l ~= line.limit or account.e ~= ends or account.p ~= line.alerts or account.z ~= line.zone
    account.l, account.p, account.e, account.z = line.limit, line.alerts, ends, line.zone
    account.held = account.held + line.amount
    account.h = digits(account.held)
    assertSound(account)
    life = max(life, ends == '' and at + ${KEY_MS} or tonumber(ends))
    names[index] = line.hold
    -- A hold of nothing frees nothing when it goes.
    if line.amount > 0 then member = member .. account.rest .. '\\n' end
  end
  local lifeText = digits(math.min(${2 * IDLE_MS}, life - at + ${GRACE_MS}))
  -- From here on nothing can fail.
  local entry = journal('reserve', atText, blob, '', '', nil)
  for index, account in ipairs(accounts) do
    local ends = account.e
    if account.exists then
      if changed[index] then call('HSET', account.key, 'h', account.h, 'l', account.l, 'm', account.m, 'p', account.p, 'e', ends, 'z', account.z)
      else call('HSET', account.key, 'h', account.h) end
      if ends == '' or expires > tonumber(ends) then call('PEXPIRE', account.key, lifeOf(ends, expires)) end
    else
      call('HSET', account.key, 'h', account.h, 'l', account.l, 'm', account.m, 'p', account.p, 'e', ends, 'z', account.z, 's', '0', 'o', '0', 'g', '0', 'r', '', 'f', entry)
      born(account, lifeOf(ends, expires))
      account.exists, account.f = true, entry
    end
  end
  for index, account in ipairs(accounts) do
    if account.rolling then
      local second, from = floor(at / 1000), firstSecond()
      account.heldIn[second] = (account.heldIn[second] or 0) + lines[index].amount
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
  call('SET', onceKey, part, 'PX', lifeText)
  call('HSET', holdKey, 'b', blob, 'a', atText, 'q', entry, 'l', table.concat(names), 'n', member, 'k', lifeText)
  call('PEXPIRE', holdKey, '${2 * IDLE_MS}')
  call('ZADD', OPEN, a[4], member)
  reserved = true
  -- What the lines said of their accounts the caller knows.
  local states = {}
  for index, account in ipairs(accounts) do
    local s, h = account.s, account.h
    if account.rolling then
      local spent, held = used(account)
      s, h = digits(spent), digits(held)
    end
    states[index] = table.concat({ account.g, s, h, account.o, account.r }, ' ')
  end
  return { 'reserved', '', atText, states, swept }
end

-- 3 id (coded), 4 which resolution, 5 how, 6 to 8 charges in tokens, nano-dollars, requests ('' as reserved)
local function resolve(a)
  local loadHold, holdAnswer, resolveHold = holding()
  local hold = loadHold(a[3])
  if not hold then return { 'not-found' } end
  local answer
  if hold.z ~= '' then answer = holdAnswer(hold, 1, {})
  else
    local charges = a[6] ~= '' and { ['tokens'] = a[6], ['nano-dollars'] = a[7], ['requests'] = a[8] } or nil
    local tooLarge
    answer, tooLarge = resolveHold(hold, a[4], charges, a[5])
    if tooLarge then return { 'too-large', '', tooLarge } end
  end
  return { 'resolved', '', answer, sweepByTheWay() }
end

-- 3 account, 4 rolling (1), 5 amount, 6 limit, 7 end, 8 thresholds, 9 zone, 10 grant
local function grant(a)
  local account = load(a[3], a[4] == '1')
  local granted = tonumber(account.g) + tonumber(a[5])
  if granted > AMOUNT_MAX then return { 'too-much' } end
  account.g = digits(granted)
  local entry = journal('grant', atText, a[10], '', '', nil)
  if account.exists then
    call('HSET', account.key, 'g', account.g)
    if account.e == '' then call('PEXPIRE', account.key, IDLE) end
  else
    account.l, account.e, account.p, account.z = a[6], a[7], a[8], a[9]
    local largest = effective(account.l, account.g)
    account.m, account.f = largest and digits(largest) or '', entry
    call('HSET', account.key, 'g', account.g, 's', '0', 'h', '0', 'o', '0', 'l', account.l, 'm', account.m, 'r', '', 'p', account.p, 'e', account.e, 'z', account.z, 'f', entry)
    born(account, lifeOf(account.e, at))
    account.exists = true
  end
  touch({ account })
  return { 'granted', '', stateOf(account) }
end

-- 3 how many at most
local function expire(a)
  local _, _, _, sweep = holding()
  return { 'expired', '', sweep(tonumber(a[3])) }
end

-- Accounts as they stand. From 3 on an account and whether it is rolling (1)
local function states(a)
  local found = {}
  for first = 3, #a, 2 do
    local account = load(a[first], a[first + 1] == '1')
    if account.exists then found[#found + 1] = stateOf(account) end
  end
  return { 'accounts', '', found }
end

-- Balances and open holds of one moment, for the audit. 3 how many accounts at most, 4 how many holds
local function snapshot(a)
  local accounts, holds = {}, {}
  for _, rest in ipairs(call('ZREVRANGE', TOUCHED, 0, tonumber(a[3]) - 1)) do
    local list = call('HMGET', prefix .. 'a:' .. rest, 's', 'h', 'o', 'g', 'm', 'f')
    if list[6] then accounts[#accounts + 1] = { rest, unpack(list) } end
  end
  for _, member in ipairs(call('ZRANGE', OPEN, 0, tonumber(a[4]) - 1)) do
    local part = string.match(member, '^[^\\n]+')
    local list = call('HMGET', prefix .. 'r:' .. part, 'q', 'l', 'z')
    holds[#holds + 1] = { part, list[1] and (list[3] or '') or '?', list[1] or '0', list[2] or '' }
  end
  return { 'snapshot', digits(now), digits(seq), digits(count), digits(call('ZCARD', TOUCHED)), digits(call('ZCARD', OPEN)), accounts, holds }
end

local function perform(a)
  local operation = a[1]
  atText = a[2]
  at = tonumber(atText)
  if operation == 'reserve' then return reserve(a) end
  if operation == 'resolve' then return resolve(a) end
  if operation == 'grant' then return grant(a) end
  if operation == 'expire' then return expire(a) end
  if operation == 'accounts' then return states(a) end
  if operation == 'snapshot' then return snapshot(a) end
  error('Broken rule: there is no operation ' .. operation)
end

local answers, first = {}, 2
while first <= #ARGV do
  local last = first + tonumber(ARGV[first])
  local done, answer = pcall(perform, { unpack(ARGV, first + 1, last) })
  -- Redis tells its own errors in a table.
  if not done then answer, loaded = { 'failed', type(answer) == 'table' and answer.err or answer }, {} end
  answers[#answers + 1] = answer
  first = last + 1
end
if seqText then saveMeta() end
return answers
`;

export const ledgerScriptSha = createHash('sha1').update(ledgerScript).digest('hex');
