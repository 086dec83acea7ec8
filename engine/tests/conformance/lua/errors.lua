error()

error(nil)

error("x")

error("x", 0)

error("x", 1)

error("x", 2)

error({code=1})

error({code=1}, 2)

error(42)

error(42, 0)

error(true)

error("multi\nline")

local function f() error("in f") end
f()

local function f() error("in f", 2) end
f()

local function f() error("in f", 2) end
local function g() f() end
g()

local function f() error("in f", 3) end
local function g()
  f()
end

g()

local function f() error("in f", 2) end
local function g() return f() end
g()

local function f() error("in f", 1) end
local function g() return f() end
return pcall(g)

local function f() error("in f", 3) end
local function g() return f() end
local function h() g() end
return pcall(h)

return error("tail")

return (error("not tail"))

local ok, e = pcall(error) return ok, e

local ok, e = pcall(error, "x") return ok, e

local ok, e = pcall(error, "x", 2) return ok, e

local ok, e = pcall(error, {1}) return ok, e[1]

return pcall(function() error("a") end)

return pcall(function() error("a", 2) end)

return pcall(function() error("a", 3) end)

return pcall(function() local x = nil; x() end)

return pcall(function() local x = nil; return x.y end)

return pcall(function(...) return select("#", ...), ... end, 1, nil, nil)

return pcall(function() return end)

return pcall(function() return nil end)

return pcall()

return pcall(nil)

return pcall(5)

return pcall({})

return pcall(setmetatable({}, {__call=function(self, a) return a end}), 7)

return pcall(pcall)

return pcall(pcall, error)

return pcall(pcall, error, "x")

return xpcall(function() error("x") end, function(e) return "handled: " .. e end)

return xpcall(function() return 1, 2, 3 end, function(e) return e end)

return xpcall(function(...) return select("#", ...) end, function() end, 1, 2)

return xpcall(function() error("x") end, function(e) error("again") end)

return xpcall(function() error("x") end, nil)

return xpcall(function() error("x") end, 5)

return xpcall(function() error("x") end)

return xpcall()

return xpcall(nil, function(e) return "h " .. e end)

return xpcall(function() error({1}) end, function(e) return type(e), 2 end)

return xpcall(function() local x = nil + 1 end, function(e) return e end)

assert(false)

assert(nil, "msg")

assert(nil, 5)

assert(false, {1})

assert(false, nil)

assert()

return assert(1, 2, 3)

return assert("x")

return assert(1, nil)

return pcall(assert, false, "plain")

local x = 5
local y = x.z.w

local x = {}
local y = x.z.w

local t = {a={}}
t.a.b.c = 1

local t = {}
t["x y"].z = 1

local t = {}
local k = "key"
t[k].z = 1

local t = {}
return t[1].x

local t = {}
return t[1][2][3]

local a
return a .. "x"

local a
return "x" .. a

local a
return "x" .. "y" .. a .. "z"

local t = {}
return "x" .. t.y .. "z"

local t = {}
return "x" .. t.y.z

local function f() end
return "x" .. f()

local a, b
return a + b

local a, b = 1
return a + b

local a, b = 1
return b + a

local t = {}
return t.x + 1

local t = {}
return 1 + t.x

local t = {x={}}
return t.x.y * 2

local t = {}
return -t.x

local t = {}
return #t.x

local t
return #t

return #KEYS.x

local up
return (function() return up.x end)()

local up
return (function() return up + 1 end)()

local up
return (function() up() end)()

local up
return (function() up.x = 1 end)()

local up
return (function() return up .. "" end)()

local up
return (function() return #up end)()

local t = {}
t.f()

local t = {}
t.f.g()

local t = {}
t:m()

local t = {m=5}
t:m()

local t = {}
t[1]()

local t = {}
t["a b"]()

local t = {}
local k = "k"
t[k]()

local function f() return nil end
f()()

local function f() return 5 end
f().x = 1

local f = nil
f()

local s = "str"
s:nope()

local s = "str"
s.x.y = 1

(nil).x = 1

local a = nil
return (a).x

local a, b
return (a or b).x

local a, b
return (a and b).x

local t = {}
return (t.a or t.b).x

local t = {}
return (t.a and t.b).x

local t = {}
return (t.a or nil).x

local up
return (function() return (up or nil).x end)()

return ("a" + 1)

return 1 + "a"

return {} + {}

local a = "x" return a + 1

local a = "x" return 1 - a

local a = "10" return a + 1, a * "2"

return 1 < {}

return {} < 1

return {} <= {}

return {} > 1

return 1 > {}

return "a" >= 1

return nil <= nil

return true >= true

local a, b = 1, "1" return a < b

local a, b = 1, "1" return a > b

local a, b = {}, 1 return a <= b

local a, b = {}, 1 return a >= b

for i = "a", 2 do end

for i = 1, "b" do end

for i = 1, 2, "c" do end

for i = nil, 2 do end

for i = 1 do end

for i = 1, nil do end

for i = 1, 2, {} do end

for i = "1", "2" do if i == 2 then return i end end

for i = 1, 2, nil do end

for k in nil do end

for k in 5 do end

for k in {} do end

for k, v in pairs(nil) do end

for k, v in pairs() do end

for k, v in ipairs(nil) do end

for k, v in ipairs("abc") do end

for k, v in pairs(5) do end

for k, v in next do end

for k, v in next, nil do end

for k, v in next, {}, "nokey" do end

local function iter() error("in iter") end
for k in iter do end

-- lines of multi-line statements
local t = {}
local x = t.a
  .b
  .c

local t = {}
local x = 1 +
  t.a +
  2

local t = {}
local x = 1 +
  2 +
  t.a

local t = {}
return {
  1,
  t.x.y,
  3
}

local function f(...) return ... end
f(
  1,
  nil + 1,
  2
)

local f
local x = 1
f(
  1,
  2
)

local t = {}
t.x
  .y = 5

local t = {}
t.x.y =
  5

local t = {}
t.f(
  1
)

local t = {}
t:
m()

local x = "a" ..
  nil ..
  "b"

local x =
  "a" ..
  "b" ..
  nil

if nil > 1
then
end

if
  nil
  > 1 then end

while nil > 1 do
end

repeat
  local x = 1
until nil > x

for i = 1,
  nil
do
end

for i
  in
  5
do end

return
  nil
  + 1

return #
  nil

return -
  nil

local a = 1
local b = 2
local c = a + b + nil

local t = setmetatable({}, {__index=function(t, k) error("idx " .. k) end})
return t.foo

local t = setmetatable({}, {__index=function(t, k) error("idx " .. k, 2) end})
return t.foo

local t = setmetatable({}, {__newindex=function(t, k, v) error("new " .. k, 2) end})
t.foo = 1

local t = setmetatable({}, {__add=function(a, b) error("add", 2) end})
return t + 1

local t = setmetatable({}, {__call=function(a, b) error("call", 2) end})
return (t(1))

local t = setmetatable({}, {__lt=function(a, b) error("lt") end})
return t < t

local t = setmetatable({}, {__tostring=function() error("ts") end})
return tostring(t)

local t = setmetatable({}, {__tostring=function() return 5 end})
return tostring(t)

local t = setmetatable({}, {__tostring=function() return {} end})
return tostring(t)

local t = setmetatable({}, {__tostring=function() return nil end})
return tostring(t)

return tostring()

return tostring(nil), tostring(true), tostring(1.5), tostring("x")

return tonumber()

return tonumber(nil)

return tonumber("x"), tonumber(""), tonumber(" "), tonumber("1 2"), tonumber("1e"), tonumber("0x"), tonumber("1e1")

return tonumber("  12  "), tonumber("\t-5\n"), tonumber("+7"), tonumber("0x1F"), tonumber("1.5e3"), tonumber(".5"), tonumber("5.")

return tonumber("inf"), tonumber("-inf"), tonumber("infinity"), tonumber("0x1p4"), tonumber("1_000"), tonumber("1,5")

return tonumber("10", 2), tonumber("ff", 16), tonumber("zz", 36), tonumber("8", 8), tonumber("777", 8), tonumber("", 16)

return tonumber("0xff", 16), tonumber("-ff", 16), tonumber(" 11 ", 2), tonumber("1.5", 16), tonumber("9", 10), tonumber("1e1", 10)

return tonumber("7fffffffffffffff", 16), tonumber("ffffffffffffffff", 16), tonumber("fffffffffffffffff", 16), tonumber("-1", 16)

return tonumber("10", 1)

return tonumber("10", 37)

return tonumber("10", "x")

return tonumber(10, 16), tonumber(10.5, 10)

return tonumber({}), tonumber(true), tonumber(print ~= nil)

return tonumber({}, 16)

return tonumber("10\0"), tonumber("\0"), tonumber("1\0002")

return type()

return type(nil), type(1), type("x"), type({}), type(type), type(true), type(nil, 1)

return select()

return select("#"), select("#", nil), select("#", 1, nil, nil)

return select(1, "a", "b"), select(2, "a", "b"), select(3, "a", "b")

return select(2, "a", "b", "c")

return select(-1, "a", "b", "c")

return select(-3, "a", "b", "c")

return select(-4, "a", "b", "c")

return select(0, "a")

return select("x", "a")

return select({}, "a")

return select("2", "a", "b"), select(1.9, "a", "b")

return select('#x', 1, 2)

return next({}), next({10}), next({a=1})

return next({10, 20}, 1), next({10, 20}, 2)

return next({}, 1)

return next()

return next(nil)

return next({}, "x")

return rawget({a=1}, "a"), rawget(setmetatable({}, {__index={b=2}}), "b")

return rawget()

return rawget({})

return rawget({}, nil)

return rawget(5, 1)

return rawset({}, 1, 2)

return rawset({}, nil, 2)

return rawset({}, 0/0, 2)

return rawset({}, 1)

return rawset(5, 1, 2)

local t = rawset(setmetatable({}, {__newindex=error}), "a", 1) return t

return rawequal(1, 1), rawequal({}, {}), rawequal("a", "a"), rawequal(1, "1")

return rawequal(1)

local mt = {__eq=function() return true end}
local a, b = setmetatable({}, mt), setmetatable({}, mt)
return a == b, rawequal(a, b), a ~= b

return unpack({1, 2, 3})

return unpack({1, 2, 3}, 2)

return unpack({1, 2, 3}, 2, 3)

return unpack({1, 2, 3}, 0, 4)

return unpack({}, 1, 3)

return unpack({1, 2}, -1, 1)

return unpack({1, nil, 3})

return unpack()

return unpack(nil)

return unpack("abc")

return unpack({}, "x")

return unpack({}, 1, 1e8)

return unpack({}, 0, 2^31-1)

return unpack({}, -2^31, 2^31-1)

return select("#", unpack({}, 1, 7990))

return select("#", unpack({}, 1, 7997))

return select("#", unpack({}, 1, 7998))

return unpack({1, 2, 3}, 3, 1)

return unpack({1,2,3}, 1.9, 2.9)

return getmetatable("").__index == string

return getmetatable({}), getmetatable(1), getmetatable(nil), getmetatable(print == nil)

return getmetatable()

return getmetatable(setmetatable({}, {__metatable="locked"}))

return getmetatable(setmetatable({}, {__metatable=false}))

return setmetatable(setmetatable({}, {__metatable="locked"}), {})

return setmetatable({}, 5)

return setmetatable({})

return setmetatable(5, {})

return setmetatable()

return getmetatable(setmetatable({}, nil))

local t = {} return setmetatable(t, {}) == t

setmetatable(_G, {})

setmetatable(_G, nil)

rawset(_G, "x", 1)

_G.x = 1

_G["x"] = 1

_G._G = 1

string = 1

string.x = 1

table.insert = nil

getmetatable("").__index = nil

getmetatable(_G).__index = nil

return _G == _G._G, _G.string == string, rawget(_G, "nope")

return _G.nope

return _G[1]

return _G[true]

return _G[{}]

local function f() return undefinedvar end
return f()

return type(KEYS), type(ARGV), #KEYS

local x = print

local x = os

local x = io

local x = getfenv

local x = newproxy

return type(load), type(loadstring), rawget(_G, "dofile"), rawget(_G, "loadfile"), rawget(_G, "require"), rawget(_G, "debug"), rawget(_G, "package"), rawget(_G, "module")

return collectgarbage("nope")

return collectgarbage("collect"), collectgarbage("stop"), collectgarbage("restart"), type(collectgarbage("count")), collectgarbage()

return collectgarbage({})

return collectgarbage(5)

return type(gcinfo())

return loadstring("return 1")()

return loadstring("return ...")(1, 2)

return loadstring("syntax error here")

return loadstring("return 1 +")

return loadstring("x =", "=name")

return loadstring("x =", "@file")

return loadstring("x =", "some\ntext")

return loadstring("x = 'a very long chunk of text that goes past the limit of what is shown in messages, certainly' +")

return loadstring("error('boo')")()

return pcall(loadstring("error('boo')"))

return pcall(loadstring("error('boo')", "=n"))

return pcall(loadstring("local x = nil; x()", "@name"))

return pcall(loadstring("\n\nerror('a long chunk of text that goes past the limit of what is shown')"))

return loadstring()

return loadstring(nil)

return loadstring(5)

return loadstring({})

return loadstring("")()

return loadstring("return x")()

return loadstring("x = 1")()

return loadstring("\27Lua")

return loadstring("local a, b = ... return b, a")(1, 2)

local i = 0 return load(function() i = i + 1 return ({"return ", "1", "+1"})[i] end)()

return load(function() return nil end)()

return load(function() return {} end)

return load(function() error("reader") end)

return load("return 1")

return load(nil)

return load()

local i = 0 return load(function() i = i + 1 return ({"x x"})[i] end, "=chunk")

local i = 0 return load(function() i = i + 1 return ({"x x"})[i] end)

local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(3000)

local function f() return 1 + f() end local ok, e = pcall(f) return ok, e

local function f(n) if n == 0 then return "done" end return f(n - 1) end return f(5000)

local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x

local t = setmetatable({}, {}) getmetatable(t).__newindex = t t.x = 1

local a, b = setmetatable({}, {}), setmetatable({}, {}) getmetatable(a).__index = b getmetatable(b).__index = a return a.x

return pcall(string.rep)

return pcall(tostring)

return pcall(next, {}, 5)

return pcall(rawset, {}, nil, 1)

return pcall(setmetatable, 1)

local f = tonumber return f()

local t = {g=tostring} return t.g()

local t = {g=rawget} return t:g()

local t = {g=setmetatable} return t:g(5)

return (tostring)()

return pcall(error, {err="e"})

return pcall(error, {err=5})

return pcall(error, {err={}})

return pcall(error, {err=true, x=1})

return pcall(error, setmetatable({}, {__index=function(t, k) return k end}))

local n = 0 return xpcall(function() error("x") end, function(e) n = n + 1 if n == 1 then error("first") end return e .. n end)

return xpcall(function() error("x") end, function(e) return end)

return select("#", xpcall(function() error("x") end, function(e) return end))

return select("#", pcall(error))

return select("#", pcall(error, nil))

local function loop(n, acc) if n == 0 then return acc end return loop(n - 1, acc + n) end return loop(100000, 0)

local function f(n, a) if n == 0 then return a end a = a or {} a[#a + 1] = function() return n end return f(n - 1, a) end
local t = f(3) return t[1](), t[2](), t[3]()

local function f(a, b) if a > 3 then return a, b end return f(b, a + b) end return f(1, 1)

local function f(a, b) if a == nil then return "nil", b end return f(b) end return f(1)

local n = 0 local function f() n = n + 1 local ok, e = pcall(f) return e end local e = f() return n, e

local n = 0 local t = setmetatable({}, {__index = function(t, k) n = n + 1 return t[k] end}) local ok, e = pcall(function() return t.x end) return n, e

local n = 0 local t = setmetatable({}, {__add = function(a, b) n = n + 1 return a + b end}) local ok, e = pcall(function() return t + 1 end) return n, e

local n = 0 local t = setmetatable({}, {__newindex = function(t, k, v) n = n + 1 t[k] = v end}) local ok, e = pcall(function() t.x = 1 end) return n, e
