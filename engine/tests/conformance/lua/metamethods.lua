local mt = {} for _, e in ipairs({"add", "sub", "mul", "div", "mod", "pow", "concat"}) do mt["__" .. e] = function(a, b) return e end end
local t = setmetatable({}, mt) return t + 1, 1 - t, t * t, t / 2, 2 % t, t ^ 2, t .. "x", "x" .. t, 1 .. t, t .. t

local mt = {__add = function(a, b) return type(a) .. type(b) end} local t = setmetatable({}, mt) return t + 1, 1 + t, "a" + t, t + nil, nil + t, t + t

local a = setmetatable({}, {__add = function() return "a" end}) local b = setmetatable({}, {__add = function() return "b" end}) return a + b, b + a, 1 + b

local t = setmetatable({}, {__add = function() return 1, 2 end}) local a, b = t + 1 return a, b

local t = setmetatable({}, {__add = 5}) return t + 1

local t = setmetatable({}, {__add = setmetatable({}, {__call = function(self, a, b) return "called" end})}) return t + 1

local t = setmetatable({}, {__unm = function(a, b) return rawequal(a, b) end}) return -t

local t = setmetatable({}, {__len = function() return 42 end}) return #t

local t = setmetatable({}, {__concat = function(a, b) return (type(a) == "table" and "T" or a) .. "|" .. (type(b) == "table" and "T" or b) end}) return t .. "a" .. "b", "a" .. "b" .. t, "a" .. t .. "b", 1 .. 2 .. t

local log = {} local t = setmetatable({}, {__concat = function(a, b) log[#log + 1] = type(a) .. type(b) return "r" end}) local r = "x" .. t .. 1 .. "y" return r, log

local mt = {__eq = function(a, b) return a.v == b.v end} local a, b, c = setmetatable({v = 1}, mt), setmetatable({v = 1}, mt), setmetatable({v = 2}, mt) return a == b, a == c, a ~= b, a ~= c, a == 1, a == nil

local a = setmetatable({}, {__eq = function() return true end}) local b = setmetatable({}, {__eq = function() return true end}) return a == b

local f = function() return true end local a = setmetatable({}, {__eq = f}) local b = setmetatable({}, {__eq = f}) return a == b, a == {}

local a = setmetatable({}, {__eq = function() return nil end}) return a == a, a ~= a

local mt = {__eq = function() return 1 end} return setmetatable({}, mt) == setmetatable({}, mt)

local mt = {__lt = function(a, b) return a.v < b.v end} local a, b = setmetatable({v = 1}, mt), setmetatable({v = 2}, mt) return a < b, a > b, a <= b, a >= b

local mt = {__lt = function(a, b) return a.v < b.v end, __le = function(a, b) return "le" end} local a, b = setmetatable({v = 1}, mt), setmetatable({v = 2}, mt) return a < b, a > b, a <= b, a >= b

local a = setmetatable({}, {__lt = function() return true end}) return pcall(function() return a < 1 end)

local a = setmetatable({}, {__lt = function() return true end}) local b = setmetatable({}, {__lt = function() return true end}) return pcall(function() return a < b end)

local a = setmetatable({}, {__le = function() return true end}) return pcall(function() return a < a end)

local mt = {__lt = function() return nil end} local a, b = setmetatable({}, mt), setmetatable({}, mt) return a < b, a <= b, a > b

local t = setmetatable({}, {__index = {a = 1}}) return t.a, t.b

local t = setmetatable({}, {__index = setmetatable({a = 1}, {__index = {b = 2}})}) return t.a, t.b, t.c

local t = setmetatable({x = 1}, {__index = function(t, k) return k end}) return t.x, t.y, t[1], t[true]

local t = setmetatable({}, {__index = function() return 1, 2, 3 end}) local a, b = t.x return a, b, (t.y)

local t = setmetatable({}, {__index = "string"}) return t.len == string.len, t.x

local t = setmetatable({}, {__index = 5}) return t.x

local t = setmetatable({}, {__index = function(t, k) return rawget(t, "_" .. k) end}) t._x = 5 return t.x

local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t.x = 5 t.x = 6 return t.x

local store = {} local t = setmetatable({}, {__newindex = store}) t.x = 1 return rawget(t, "x"), store.x

local store = {} local t = setmetatable({}, {__newindex = store, __index = store}) t.x = 1 t.x = 2 t[1] = 3 return t.x, t[1], next(t)

local t = setmetatable({}, {__newindex = 5}) t.x = 1

local t = setmetatable({}, {__newindex = "s"}) t.x = 1

local t = setmetatable({}, {__newindex = function() end}) t.x = 1 return t.x, next(t)

local t = setmetatable({}, {__newindex = function() end}) t[nil] = 1

local t = setmetatable({}, {__newindex = function() end}) t[0/0] = 1

local t = setmetatable({}, {__index = function(t, k) return tostring(k) end}) return t[nil], t[0/0] ~= nil

local t = setmetatable({}, {__call = function(self, ...) return select("#", ...), ... end}) return t(), t(1), t(1, 2)

local t = setmetatable({}, {__call = function(self, a) return self.n, a end}) t.n = 7 return t(8)

local t = setmetatable({}, {__call = 5}) return t()

local t = setmetatable({}, {__call = setmetatable({}, {__call = function() return 1 end})}) return t()

local t = setmetatable({}, {__call = function(self, a) return a end}) local o = {t = t} return o.t(1), o:t()

local t = setmetatable({}, {__tostring = function(t) return "T!" end}) return tostring(t)

local t = setmetatable({}, {__tostring = "x"}) return tostring(t)

local t = setmetatable({}, {__metatable = "m"}) return getmetatable(t), pcall(setmetatable, t, {})

local P = {} P.__index = P function P.new(x) return setmetatable({x = x}, P) end function P:get() return self.x end function P:set(x) self.x = x return self end local p = P.new(1) return p:get(), p:set(5):get(), p.x

local A = {} A.__index = A function A:hi() return "A" end local B = setmetatable({}, {__index = A}) B.__index = B function B:ho() return "B" .. self:hi() end local b = setmetatable({}, B) return b:hi(), b:ho()

local t = setmetatable({}, {__index = function(t, k) t[k] = k .. "!" return t[k] end}) return t.a, rawget(t, "a")

local t = setmetatable({}, {__mod = function(a, b) return "mod" end, __pow = function() return "pow" end}) return t % 2, 2 ^ t

local t = setmetatable({}, {__index = function(t, k) return function(self, x) return k .. x end end}) return t.foo(t, 1), t:bar(2)

local t = setmetatable({}, {__gc = function() end, __mode = "k"}) return t

local t = setmetatable({}, {__index = rawget}) return t.x

local t = setmetatable({}, {__index = next}) return t.x

local t = setmetatable({}, {__add = rawequal}) return t + t, t + 1

local t = setmetatable({}, {__lt = rawequal}) return t < t, t > t

local t = setmetatable({}, {__call = select}) return pcall(function() return t(1, 2) end)

local t = setmetatable({}, {__unm = error}) return pcall(function() return -t end)

local m = {} m.__index = m setmetatable(m, m) return pcall(function() return m.x end)

local n = 0 local t = setmetatable({}, {__index = function() n = n + 1 return nil end}) local x = t.a or t.b or t.c return x, n

local t = setmetatable({1, 2, 3}, {__index = function(t, k) return 0 end}) return #t, t[4], t[3], t.x

local mt = {__concat = function(a, b) return "c" end} local t = setmetatable({}, mt) return "a" .. "b" .. t .. "c" .. "d"
