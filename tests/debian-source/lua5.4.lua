local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
assert(fib(15) == 610)

for i = 1, 50 do
  local ok, message = pcall(function() error("planned " .. i) end)
  assert(not ok and message:find("planned " .. i, 1, true))
end

local numbers = {}
for i = 1, 500 do numbers[i] = (i * 7919) % 1009 end
table.sort(numbers, function(a, b) return a < b end)

local generator = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
local sum = 0
for i = 1, 100 do sum = sum + generator() end
assert(sum == 5050)

local words = ("the quick brown fox "):rep(50):gsub("%a+", string.upper)
assert(#words == 1000)
collectgarbage()
