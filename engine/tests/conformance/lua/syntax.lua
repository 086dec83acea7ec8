return

return 1

return 1, 2, 3

return nil

return nil, nil

return "a", 'b', [[c]], [==[d]]e]==]

return "\a\b\f\n\r\t\v\\\"\'\65\065\0\200x\
y"

return 'it''s'

return "a\z"

return [[
first newline gone]]

return [[a
b]]

return [==[
]]]=]]==]

return 0x10, 0XfF, 1e3, 1E-2, 1e+2, .5, 5., 3.14, 0x.8

return 0xffffffffffffffff, 0x1p4

return 1..2

return 1 ..2

return 3e

return 0x

return 1a

return 08, 1e400, 123456789012345678901234567890

return --[[ comment ]] 1

return --[==[ comment
over lines ]] ]==] 2

-- a comment
return 3 -- and another

return 1;

return;

return 1 return 2

local a = 1 local b = 2 return a + b

local a <const> = 1

;

local x = 1;; return x

local t = {1, 2, 3,} return t

local t = {1; 2; 3;} return t

local t = {,} return t

return {a=1, b=2; 3, [4]=5}

return {[1]="a", "b"}

return {"b", [1]="a"}

return {nil, nil, 3}

return {nil, 2, nil}

return {1, nil, 3, nil}

return {n=nil}

return {f=function() end}

x

x y

x =

= 1

local

local 1

local function

local function f

local function f(

local function f() return 1

function f() end

for

for i

for i =

for i = 1

for i = 1, 2

for i = 1, 2 do

for i, j = 1, 2 do end

for 1 = 1, 2 do end

for i in do end

while

while true

while true do

repeat

repeat until

if

if true

if true then

if true then else

if true then elseif

if true then else else end

return 1 +

return (1

return (1
+2

return {1

return {1
,2

return {[1

return {[1]

return {[1]}

f(

f(1

f(1,

f(1,)

f
(1)

local f = function() return 1 end
local x = f
(1)

a.b:c = 1

a:b

a.1

a.

a[1

a[]

return a.b.c:d

return ...

local function f() return ... end

return function(...) return ... end

return function(a, ..., b) end

return function(a, a) return a end

return function(1) end

break

while true do break end return 1

while true do break return 1 end

do break end

for i = 1, 3 do local function f() break end end

return "unfinished

return "unfinished\

return 'unfinished

return [[unfinished

return [==[unfinished]=]

return "\300"

return "\25a"

return [=x

--[[ unfinished

return @

return $x

return !x

return a ~ b

return a != b

return 1 // 2

return 1 & 2

goto x

local goto = 1 return goto

::label::

return not

return #

return -

return - - 1

return not not nil

return #"abc"

return -2 ^ 2, 2 ^ -1, 2 ^ 3 ^ 2, -2 ^ -2

return 1 .. 2 .. 3

return 2 * 3 + 4, 2 + 3 * 4, (2 + 3) * 4, 10 / 4 / 5, 10 - 4 - 3, 7 % 4 % 2

return 1 < 2 == true, 1 == 1 ~= false, not 1 == 2, not (1 == 2)

return 1 or 2 and 3, nil and 1 or 2, false or nil, nil or false, 1 and nil, false and 1

return "a" .. "b" == "ab", 1 + 1 .. "", 2 ^ 2 .. "x"

return 1 < 2 and 2 < 3 or false

return (1), (nil), ((2))

return ("x"), (("y"))

local a, b, c = (function() return 1, 2, 3 end)() return a, b, c

local a, b, c = ((function() return 1, 2, 3 end)()) return a, b, c

local a, b = 1 return a, b

local a, b = 1, 2, 3 return a, b

local a = 1, 2 return a

local t = {} t.x, t.y = 1, 2 return t

local a = {} ; (a).b = 1 return a.b

(function() end)()

local f f = function() return 1 end return f()

local s = "x" return s:len

local function f(x) return x end return f"str", f[[long]], f{1}

local function f(x) return x end return f"a", f'b'

return ({1,2,3})[2], ({a=1}).a, ("abc"):len()

return #{1,2,3}, #"x" + 1

return {} == {}, {} ~= {}

local a = {b={c=function() return "d" end}} return a.b.c()

local a = {b={c=function(self) return self == nil end}} return a.b:c(), a.b.c()

local t = {f=function(self, x) return x end} return t:f(1), t.f(t, 2), t:f"x", t:f{3}[1]

if nil then elseif false then else return "else" end

if nil then elseif 0 then return "zero" else return "else" end

local i = 0 while i < 3 do i = i + 1 end return i

local i = 0 repeat local j = i i = i + 1 until j >= 3 return i

local n = 0 for i = 3, 1, -1 do n = n * 10 + i end return n

local n = 0 for i = 1, 0 do n = n + 1 end return n

do local a = 1 end return a

local a = 1 do local a = 2 end return a

local a = 1 local a = a + 1 return a

local and = 1

local end = 1

local _, _1, a_b, A = 1, 2, 3, 4 return _, _1, a_b, A

return _VERSION

return function() end == function() end

local function f() end return f(), (f()), f() == nil

return 'a\
b'

return "\1\12\123\1234"

return "tab	in string"

return 1--comment

return 1--[[x]]+--[[y]]2

return 10 == 10.0, "10" == 10, 0 == -0

return 1e15, 1e14, 123456789012345, 1e100, -1e-100, 0.1, 1/3, 100, -0

return 0, -0

return -0, 0

return tostring(-0), tostring(0)

local zero = 0 return tostring(-zero), tostring(0 * -1)

return 2^53, 2^53 + 1, 2^63, -2^63, 2^1023 * 2

return 5 % 3, -5 % 3, 5 % -3, -5 % -3, 5.5 % 2, -5.5 % 2, 5 % 0, 0 % 5

return 1/0, -1/0, 0/0 ~= 0/0

return 3 % (1/0), -3 % (1/0), 3 % (-1/0)

return 1 + nil

return "a" < "b", "a" < "B", "" < "a", "a" < "aa", "Z" < "a", "a\0b" < "a\0c"

return "10" + 5, "0x10" + 0, " 5 " * "2", "1e1" - 1, -"2", "3" ^ 2, 10 .. 20

return "abc" + 1

return "" + 1

return "5x" * 2

return {} + 1

return 1 < "2"

return {} < {}

return nil < 1

return "a" < 1

return true < false

return {} .. "x"

return nil .. "x"

return "x" .. nil

return 1 .. true

return #nil

return #5

return -{}

return -nil

return -"abc"

local t = nil return t.x

local t = nil t.x = 1

local t = {} return t.x.y

local t = {} return t[1][2]

local t = {} t.x.y.z = 1

local t = {} return t:nomethod()

local t = {} t.x()

local x x()

nosuch()

nosuch.field = 1

return nosuch.field

x = 1

local s = "x" return s.y, s.len == string.len

local s = "x" s.y = 1

local n = 5 return n.x

local n = 5 n.x = 1

local n = 5 n()

("x")()

(5)()

return (nil)()

local a = {} a[nil] = 1

local a = {} a[0/0] = 1

local a = {} return a[nil], a[0/0]

return {[nil]=1}

return {[0/0]=1}

local t = setmetatable({}, {__index=function(t,k) return k .. "!" end}) return t.foo, t[1], t[true]

local t = setmetatable({}, {__index=function(t,k) return k .. "!" end}) return t[{}]

return [[a [[ b]]

return [[ [[ ]] ]]

return [==[a [==[ b]==]

--[[ a [[ b ]] return 1
