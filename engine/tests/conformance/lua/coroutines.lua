local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) return d + e end)
return coroutine.resume(co, 1, 2)

local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) return d + e end)
local r = {} r[1] = {coroutine.resume(co, 1, 2)} r[2] = {coroutine.resume(co, 10)} r[3] = {coroutine.resume(co, 3, 4)} r[4] = {coroutine.resume(co)} return r

local f = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) return f(), f(), f(), f()

local f = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) f() f() f() f() return pcall(f)

local s = 0 for i in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) do s = s + i end return s

local co co = coroutine.create(function() return coroutine.status(co) end) return coroutine.status(co), coroutine.resume(co)

local co = coroutine.create(function() end) coroutine.resume(co) return coroutine.status(co), coroutine.resume(co)

local co = coroutine.create(function() error("inside") end) return coroutine.resume(co)

local co = coroutine.create(function() error({1}) end) local ok, e = coroutine.resume(co) return ok, e[1], coroutine.status(co)

local f = coroutine.wrap(function() error("inside") end) return pcall(f)

local f = coroutine.wrap(function() error("inside", 0) end) return pcall(f)

local f = coroutine.wrap(function() error({1}) end) return pcall(f)

local f = coroutine.wrap(function() local x = nil + 1 end)
f()

local co co = coroutine.create(function() return coroutine.resume(co) end) return coroutine.resume(co)

local a, b a = coroutine.create(function() return coroutine.resume(b) end) b = coroutine.create(function() return coroutine.status(a), coroutine.resume(a) end) return coroutine.resume(a)

local f f = coroutine.wrap(function() return pcall(f) end) return f()

return coroutine.running()

return type(coroutine.wrap(function() return coroutine.running() end)())

return select("#", coroutine.running())

coroutine.yield(1)

return pcall(coroutine.yield, 1)

local co = coroutine.create(function() return pcall(function() coroutine.yield(1) end) end) return coroutine.resume(co)

local co = coroutine.create(function() return pcall(coroutine.yield, 1) end) return coroutine.resume(co)

local t = setmetatable({}, {__index = function() return coroutine.yield(1) end}) local co = coroutine.create(function() return t.x end) return coroutine.resume(co)

local t = setmetatable({}, {__add = function() return coroutine.yield(1) end}) local co = coroutine.create(function() return t + 1 end) return coroutine.resume(co)

local t = setmetatable({}, {__call = function(self, x) return coroutine.yield(x) end}) local co = coroutine.create(function() return t(5) end) return coroutine.resume(co)

local co = coroutine.create(function() for i in function() return coroutine.yield(1) end do end end) return coroutine.resume(co)

local co = coroutine.create(function() return loadstring("return coroutine.yield(7)")() end) return coroutine.resume(co)

local co = coroutine.wrap(function(...) local n = select("#", ...) while true do n = n + select("#", coroutine.yield(n)) end end) return co(1, 2), co(1), co(), co(1, 2, 3)

local co = coroutine.wrap(function() return coroutine.yield() end) return select("#", co()), co(1, 2)

local co = coroutine.wrap(function() local a = coroutine.yield() return a end) co() return co(5)

local co = coroutine.wrap(function() local t = {coroutine.yield(1), coroutine.yield(2)} return #t, t end) co() co("a") return co("b", "c")

local co = coroutine.wrap(function() return coroutine.yield(1) + coroutine.yield(2) end) co() co(10) return co(20)

local co = coroutine.wrap(function() return coroutine.yield("a") .. coroutine.yield("b") .. "!" end) co() co("x") return co("y")

local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local function filter(p, g) return coroutine.wrap(function() for x in g do if p(x) then coroutine.yield(x) end end end) end
local r = {} for x in filter(function(x) return x % 2 == 0 end, gen(10)) do r[#r + 1] = x end return r

local function inner() coroutine.yield("deep") return "ret" end local function mid() return inner() end local co = coroutine.wrap(function() return mid() end) return co(), co()

local function inner() coroutine.yield("deep") return "ret" end local function mid() local r = inner() return r .. "!" end local co = coroutine.wrap(function() return mid() end) return co(), co()

local y = coroutine.yield local co = coroutine.wrap(function() return y(1) end) return co(), co(2)

local t = {y = coroutine.yield} local co = coroutine.wrap(function() return t.y(1) end) return co(), co(2)

local o = {} function o:step(x) self.n = (self.n or 0) + x return coroutine.yield(self.n) end local co = coroutine.wrap(function() o:step(1) o:step(2) return o:step(3) end) return co(), co(), co(), co("end")

local co = coroutine.wrap(function() local ok, e = pcall(function() error("caught") end) coroutine.yield(e) return "after" end) return co(), co()

local co = coroutine.create(coroutine.yield) return coroutine.resume(co, 1)

local co = coroutine.create(tostring) return coroutine.resume(co, 1)

return coroutine.create(5)

return coroutine.create()

return coroutine.wrap(nil)

return coroutine.resume(5)

return coroutine.resume()

return coroutine.status(nil)

return coroutine.status({})

return type(coroutine.create(function() end))

local co = coroutine.create(function() end) return co == co, co == coroutine.create(function() end), #{[co] = 1}

local out = {} local co = coroutine.create(function() for i = 1, 2 do out[#out + 1] = i coroutine.yield() end end) while coroutine.resume(co) and coroutine.status(co) ~= "dead" do out[#out + 1] = "-" end return out

local co = coroutine.wrap(function() while true do local x = coroutine.yield() if x == "stop" then break end end return "stopped" end) co() co(1) return co("stop")

local co = coroutine.wrap(function() if coroutine.yield() then return "t" else return "f" end end) co() return co(true)

local co = coroutine.wrap(function() local t = {} t[coroutine.yield("k")] = coroutine.yield("v") return t end) co() co("key") return co("value")

local co = coroutine.wrap(function() local a, b = coroutine.yield() return b, a end) co() return co(1, 2)

local co = coroutine.wrap(function(...) return select("#", ...), ... end) return co(nil, nil)

local co = coroutine.create(function() local x <const> = 1 end)

local fs = {} for i = 1, 3 do fs[i] = coroutine.wrap(function() for j = 1, 2 do coroutine.yield(i * 10 + j) end end) end return fs[1](), fs[2](), fs[1](), fs[3](), fs[2]()

local co = coroutine.create(function() coroutine.yield() error("second") end) coroutine.resume(co) return coroutine.resume(co)

local co = coroutine.wrap(function() coroutine.yield(coroutine.wrap(function() coroutine.yield("in") end)()) return "out" end) return co(), co()

local function loop(n) if n == 0 then return "end" end coroutine.yield(n) return loop(n - 1) end local co = coroutine.wrap(loop) return co(3), co(), co(), co()

local co = coroutine.wrap(function() repeat local x = coroutine.yield() until x return "done" end) co() co(false) return co(true)

local n = 0 local co = coroutine.wrap(function() for i = coroutine.yield("a"), coroutine.yield("b") do n = n + i end return n end) co() co(1) return co(4)

local function f() return coroutine.yield(1), coroutine.yield(2) end local co = coroutine.wrap(function() return f() end) return co(), co("x"), co("y")

local co = coroutine.wrap(function() return not coroutine.yield(), -coroutine.yield() end) co() co(nil) return co(5)

local co = coroutine.wrap(function() return (coroutine.yield(1)) end) co() return co(1, 2)

error(coroutine.wrap(function() coroutine.yield("v") end)())

local co = coroutine.create(function() error("x", 2) end) return coroutine.resume(co)

local co = coroutine.create(function() local function f() error("x", 2) end
f() end) return coroutine.resume(co)

local n = 0 local function f() n = n + 1 return coroutine.wrap(f)() end local ok, e = pcall(f) return n > 190 and n < 200
