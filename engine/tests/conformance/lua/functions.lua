local function f(a, b) return a, b end return f(), f(1), f(1, 2), f(1, 2, 3)

local function f(...) return ... end return f(), (f(1, 2)), f(1, 2)

local function f(...) local a, b = ... return b, a end return f(1, 2, 3)

local function f(...) return select("#", ...) end return f(), f(nil), f(nil, nil), f(f()), f((f()))

local function f(...) return arg end return f(1, 2)

local function f(...) return arg.n, arg[1], #arg end return f(1, nil, 3)

local function f(...) local x = ... return arg end return f(1)

local function f(a, ...) return arg.n, a end return f(1, 2, 3)

local function f(...) return (function() return arg.n end)() end return f(1, 2)

local function f(...) arg = 5 return arg end return f(1)

return arg

local function f(...) local t = {...} return #t, t[1], t[3] end return f(1, nil, 3)

local function f(...) return {...}, {..., 1}, {(...)} end return f(1, 2)

local function f(...) return 1, ... end return f(2, 3), f()

local function f(...) return ..., 1 end return f(2, 3), f()

local function f(a, b, ...) return a, b, ... end return f(1, 2, 3, 4)

local function f(...) for i, v in ipairs({...}) do if v == 2 then return i end end end return f(5, 4, 2)

local function f(...) local function g() return 1 end return g(...) end return f(1)

return (function(...) return ... end)(1, 2, 3)

return ...

return select("#", ...)

local a = 1 local function f() a = a + 1 return a end return f(), f(), a

local fs = {} for i = 1, 3 do fs[i] = function() return i end end return fs[1](), fs[2](), fs[3]()

local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end return fs[1](), fs[1](), fs[2]()

local fs = {} for i = 1, 3 do local j = i fs[i] = function() j = j + 1 return j end end return fs[1](), fs[1](), fs[2]()

local fs = {} local i = 1 while i <= 3 do local j = i fs[i] = function() return j end i = i + 1 end return fs[1](), fs[2](), fs[3]()

local fs = {} local i = 1 repeat local j = i fs[i] = function() return j end i = i + 1 until j == 3 return fs[1](), fs[2](), fs[3]()

local fs = {} for k, v in pairs({a = 1}) do fs[1] = function() return k, v end end return fs[1]()

local fs = {} for k, v in ipairs({"x", "y"}) do fs[k] = function() v = v .. k return v end end return fs[1](), fs[1](), fs[2]()

local function counter() local n = 0 return function() n = n + 1 return n end, function() return n end end local inc, get = counter() inc() inc() return get()

local function outer() local a = 1 return function() local b = 2 return function() a = a + b return a end end end local f = outer()() return f(), f()

local x = 1 local f = function() return x end x = 2 return f()

local f = function() return f end

local f local g = function() return f end f = 1 return g()

local function f() return f end return f() == f

local f = function(n) return n end local g = f f = nil return g(1)

local function even(n) if n == 0 then return true end return n > 0 end return even(0), even(1)

local odd local function even(n) if n == 0 then return true end return odd(n - 1) end function odd(n) if n == 0 then return false end return even(n - 1) end return even(10), odd(10)

local function fact(n) if n <= 1 then return 1 end return n * fact(n - 1) end return fact(20), fact(170), fact(171)

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(15)

local function f(n) if n > 0 then return n end end return f(1), f(0), select("#", f(0))

local function f() return end return select("#", f()), select("#", (f()))

local function f() return nil end return select("#", f())

local function f() return f2 and 1 or 2 end

local t = {} function t.f(x) return x end function t:g(x) return self == t, x end return t.f(1), t:g(2)

local t = {a = {b = {}}} function t.a.b.c(x) return x end function t.a.b:d(x) return self == t.a.b, x end return t.a.b.c(1), t.a.b:d(2)

local t = {} function t:f(...) return select("#", ...), self == t end return t:f(1, 2)

local function f(self) self = self or 1 return self end return f(), f(2)

local function f(a) a = a + 1 return a end local x = 1 return f(x), x

local function f(t) t.x = 1 t = {} t.x = 2 return t.x end local t = {} return f(t), t.x

local function f(a, a) return a end return f(1, 2)

local a = 1 local function f(a) return a end return f(2), a

do local function f() return 1 end end return pcall(function() return f() end)

local function f() return 1 end local function f() return 2 end return f()

local function f() do return 1 end return 2 end return f()

local function f(x) if x then return "a" else return "b" end end return f(1), f()

local function f(x) while true do if x > 3 then return x end x = x + 1 end end return f(1)

local function f(x) for i = 1, 10 do for j = 1, 10 do if i * j == x then return i, j end end end end return f(42)

local function f(n) local t = {} for i = 1, n do t[i] = i end return unpack(t) end return f(3), (f(3)), select("#", f(100))

local function f(...) return unpack({...}) end return f(1, 2, 3)

local function compose(f, g) return function(...) return f(g(...)) end end return compose(function(a, b) return b, a end, function(...) return ... end)(1, 2)

local f = loadstring("local x = ... return function() x = x + 1 return x end")(5) return f(), f()

local function f() local a, b, c = 1, 2 return a, b, c end return f()

local a <close> = 1

local function apply(f, ...) return f(...) end return apply(function(a, b) return a + b end, 1, 2), apply(tostring, 5), apply(select, "#", 1, 2)

return (function() return 1, 2 end)(), 3

return 3, (function() return 1, 2 end)()

local s = 0 for i = 1, 3 do for j = i, 3 do s = s + j end end return s

local r = {} for i = 1, 2, 0.25 do r[#r + 1] = i end return r

local r = {} for i = 0, 1, 0.1 do r[#r + 1] = i end return r

local r = {} for i = 1, 0, -0.3 do r[#r + 1] = i end return r

local r = {} for i = 0.1, 1, 0.3 do r[#r + 1] = i end return r

local r = {} for i = 5, 1 do r[#r + 1] = i end return r

local r = {} for i = 5, 1, -2 do r[#r + 1] = i end return r

local r = {} for i = 1, 3 do r[#r + 1] = i i = 10 end return r

local r = {} for i = 1, 1/0 do r[#r + 1] = i if i == 3 then break end end return r

local r = {} for i = -1/0, 0 do r[#r + 1] = 1 break end return r

local r = {} for i = 0/0, 1 do r[#r + 1] = i end return r

local r = {} for i = 1, 0/0 do r[#r + 1] = i end return r

local r = {} for i = 1, 2, 0/0 do r[#r + 1] = i end return r

local n = 0 for i = 1, 3, 0 do n = n + 1 if n == 3 then break end end return n

local n = 0 for i = 3, 1, 0 do n = n + 1 if n == 3 then break end end return n

local r = {} for i = 1e15, 1e15 + 3 do r[#r + 1] = i end return r

local r = {} for i = 2^53, 2^53 + 4 do r[#r + 1] = i if #r > 5 then break end end return r

local r = {} for i = "1", "3", "1" do r[#r + 1] = i end return r

local r = {} for i = 1, 3 do local j = i * 2 if j == 4 then break end r[#r + 1] = j end return r

local n = 1 for i = 1, n + 2 do n = n + 1 end return n

local a, b, c = 1, 3, 1 local r = {} for i = a, b, c do b = 10 c = 5 r[#r + 1] = i end return r

local i = 5 for i = 1, 3 do end return i

local r = {} for i = 3, 1, -1 do r[#r + 1] = i end return r

local n = 0 while true do n = n + 1 if n > 5 then break end end return n

local n = 0 repeat n = n + 1 if n == 3 then break end until false return n

local n = 0 repeat local done = n >= 2 n = n + 1 until done return n

local n = 0 repeat local x = n; n = n + 1; local f = function() return x end until f() == 3 return n

local r = {} for i = 1, 3 do repeat if i == 2 then break end r[#r + 1] = i until true end return r

local function iter(n, i) if i < n then return i + 1, i * i end end local r = {} for i, sq in iter, 4, 0 do r[#r + 1] = sq end return r

local function range(n) local i = 0 return function() i = i + 1 if i <= n then return i end end end local s = 0 for i in range(4) do s = s + i end return s

local r = {} for a, b, c, d in (function() local n = 0 return function() n = n + 1 if n < 3 then return n, n * 2, nil, 4 end end end)() do r[#r + 1] = tostring(a) .. tostring(b) .. tostring(c) .. tostring(d) end return r

local r = {} for k, v in pairs({1, 2}) do k = k * 10 r[#r + 1] = k end return r

for k in function() return false end do return k end

local n = 0 for x in function() n = n + 1 if n < 3 then return false end end do end return n

for i = 1, 2 do local x x = (x or 0) + 1 if i == 2 then return x end end

local t = setmetatable({}, {__call = function(self, s, c) c = (c or 0) + 1 if c < 4 then return c end end}) local n = 0 for i in t do n = n + i end return n

local x = nil if x then return 1 elseif x == nil then return 2 end

local a = false local b = a or "default" local c = a and "no" or "yes" return b, c

local a, b = nil, false return a == nil, a == b, not a == not b, a or b, b or a, a and b, b and a

return 1 and 2, nil and 2, false and nil, 1 or error("no"), nil or "x", false or nil

return not nil, not false, not 0, not "", not {}, not not 1

return (1 and 2) + 3, (nil or 4) * 2

local x = 5 return x > 3 and "big" or "small", x < 3 and "small" or "big"

return 1 == 1.0, "a" == "a", "a" == "b", nil == false, 0 == false, "" == false

local a = "x" return a == "x" and 1 or 2, a ~= "x", a .. a == "xx"

return 2 ^ 0.5 == 2 ^ 0.5, 10 % 3.3, -10 % 3.3, 1e308 * 10, -1e308 * 10

return 7 / 2, -7 / 2, 7 % -2, 0 / 5, -0 / 5 == 0

return 1e15 + 0.5, 2^31, 2^31 % 2, 12345678.9 % 1

return "1" + "2", "3" * "4", "10" / "5", "2" ^ "3", "7" % "4", - "5", "0x10" * 1

return 1 .. "", 1.5 .. "", 1e20 .. "", 1e15 .. "", -1.5e-10 .. "", 2^53 .. "", 1/3 .. ""

return 1e14 .. "", 1e13 .. "", 123456789012345 .. "", 99999999999999 .. "", 0.1 + 0.2 .. ""

return 1/0 .. "", -1/0 .. ""

return tostring(1e100), tostring(-1e-5), tostring(123.456), tostring(1e-4), tostring(1e-5), tostring(100000000000000), tostring(1e14)

local a = {} a.b = function() return {c = function() return "deep" end} end return a.b().c()

local s = "x" for i = 1, 5 do s = s .. s end return #s

local s = "" for i = 1, 100 do s = s .. i end return s

local t = {} for i = 1, 10 do t[i] = function(x) return x + i end end local s = 0 for i = 1, 10 do s = t[i](s) end return s

local M = {} local function private() return "p" end function M.public() return private() end return M.public()

local a = {} local i = 3 i, a[i] = i + 1, 20 return a[3], a[4], i

local x, y = 1, 2 do local x = 10 y = x end return x, y

local function f(a, b, c, d, e, f, g, h, i, j) return j, a end return f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

local a1,a2,a3,a4,a5,a6,a7,a8,a9,a10 = 1,2,3,4,5,6,7,8,9,10 return (function() return a1+a2+a3+a4+a5+a6+a7+a8+a9+a10 end)()

-- numbers kept apart from what only looks like one
local n = 1 n = "x" return n .. "y"

local n = 0 for i = 1, 3 do n = n + i end n = n .. "" return n

local n = 1 local function f() n = "s" end f() return pcall(function() return n + 1 end)

local n local m = 1 if m then n = m + 1 end return n * 2

local a, b = 1, 2 a, b = b, "x" return a, b .. ""

local n = 1 n = n + (function() return setmetatable({}, {__add = function() return "meta" end}) end)() return n

local n = 0 local t = {} n = n + #t t[1] = 1 n = n + #t return n, n / 2

local x = 10 local y = x % 3 local z = -x ^ 2 return x - y * z, x / y, (x + y) % z

local i = 1 while i < 100 do i = i * 2 end return i

local a = 0 local b = a a = a + 1 return a, b

local n = 5 local f = function() n = n - 1 return n end return f() + f() * f(), n

local n = 3 local s = "" repeat s = s .. n n = n - 1 until n == 0 return s, n
