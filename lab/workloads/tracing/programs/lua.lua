-- What the traced Lua interpreter runs: calls, tables, sorting with a comparator, patterns, coroutines, errors.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function sorted(seed)
  local numbers = {}
  for i = 1, 60 do numbers[i] = (i * 7919 + seed) % 1009 end
  table.sort(numbers, function(a, b) return a < b end)
  return numbers[1] + numbers[60]
end

local function words(seed)
  local text = ("strand %d of the loom "):format(seed % 100):rep(4)
  local upper = text:gsub("%a+", string.upper)
  return #upper
end

local function generated()
  local sum = 0
  for value in coroutine.wrap(function() for i = 1, 20 do coroutine.yield(i) end end) do sum = sum + value end
  return sum
end

local function failed() return select("#", pcall(error, "planned")) end

function work(rounds)
  local sum = 0
  for i = 1, rounds do sum = sum + fib(9) + sorted(i) + words(i) + generated() + failed() end
  return sum
end
