local t = {} for i = 1, 10 do t[i] = i end return t

local t = {} for i = 10, 1, -1 do t[i] = i end return t

local t = {} for i = 1, 10 do t["k" .. i] = i end return t

local t = {} for i = 1, 20 do t[i * 2] = i end return t

local t = {} for i = -5, 5 do t[i] = i end return t

local t = {} for i = 0.5, 5 do t[i] = i end return t

local t = {} t[1] = 1 t[2] = 2 t[4] = 4 return t, #t

local t = {} t[1] = 1 t[2] = 2 t[3] = 3 t[4] = 4 t[3] = nil return t, #t

local t = {1, 2, 3, 4, 5} t[5] = nil return t, #t

local t = {1, 2, 3, 4, 5} t[3] = nil t[5] = nil return t, #t

local t = {1, 2, 3, nil, 5} return #t, t

local t = {1, 2, nil, nil, 5, nil} return #t, t

local t = {nil, nil, nil} return #t

local t = {n = 1, 2, 3, m = 4, 5} return t

local t = {a = 1, b = 2, c = 3} t.a = nil return t, next(t)

local t = {a = 1, b = 2, c = 3} t.d = 4 t.e = 5 return t

local t = {a = 1, b = 2, c = 3} t.a = nil t.d = 4 return t

local t = {} t.x = nil t.y = nil t.z = 1 return t

local t = {} for i = 1, 100 do t[i] = i end for i = 1, 100 do t[i] = nil end return #t, next(t)

local t = {} for i = 1, 100 do t[i] = i end for i = 1, 90 do t[i] = nil end t.x = 1 return #t, t

local t = {} for i = 1, 100 do t[i] = i end for i = 100, 51, -1 do t[i] = nil end return #t

local t = {} for i = 1, 33 do t[i] = i end for i = 1, 33, 2 do t[i] = nil end t.a = 1 t.b = 2 return #t, t

local t = {} t[1e15] = 1 t[2^31] = 2 t[2^53] = 3 t[-1] = 4 t[0] = 5 return t

local t = {} t[1.5] = 1 t[-1.5] = 2 t[1e300] = 3 t[1/0] = 4 t[-1/0] = 5 return t

local t = {} t[true] = 1 t[false] = 2 t["true"] = 3 return t

local t = {[1] = 1, [2] = 2, [3] = 3} return t, #t

local t = {[1] = 1, [2] = 2, [3] = 3, [4] = 4, [5] = 5} t[6] = 6 return t, #t

local t = {[3] = 3, [2] = 2, [1] = 1} return t, #t

local t = {10, 20, 30, [2] = "x", [4] = "y"} return t, #t

local t = {[1] = "a", [2] = "b", "c"} return t

local function f() return 1, 2, 3 end return {f()}, {f(), f()}, {(f())}, {f(), 4}, {a = f()}

local function f() end return {f()}, {f(), f()}, {(f())}, {1, f()}

local function f(...) return {...} end return f(), f(1), f(nil), f(1, nil), f(nil, 1)

local function f(...) return {n = select("#", ...), ...} end return f(1, 2, nil)

local t = {} t[#t + 1] = "a" t[#t + 1] = "b" t[#t + 1] = "c" return t

local t = {1, 2, 3} local u = t u[1] = "x" return t[1]

local t = {} t.t = t return t.t.t.t == t

local t = {x = {y = {z = 1}}} t.x.y.z = t.x.y.z + 1 return t.x.y.z

local t = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53} t[54] = 54 return #t, t[50], t[51], t

local t = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17} t[17] = nil return #t

local t = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17} t[18] = 18 t[19] = 19 t[17] = nil return #t, t

local t = {a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=10,k=11,l=12,m=13,n=14,o=15,p=16,q=17,r=18,s=19} return t

local t = {} for c in ("the quick brown fox jumps over the lazy dog"):gmatch and ("x"):gmatch("x") do t[c] = 1 end return t

local t = {} for _, w in ipairs({"name", "value", "key", "id", "type", "data", "ts", "score", "user", "job", "a", "b", "aa", "ab", "ba", ""}) do t[w] = #w end return t

local t = {} for _, w in ipairs({"a long string key that is longer than thirty two characters", "another long string key that is longer than thirty-two characters", "yet another quite long key, this one too"}) do t[w] = #w end return t

local t = {} for i = 1, 50 do t["key:" .. i] = i end for i = 1, 50, 3 do t["key:" .. i] = nil end for i = 51, 60 do t["key:" .. i] = i end return t

local t = {} for i = 1, 40 do t[i % 7 .. ""] = i t[i] = i end return t

local t = {} for i = 1, 30 do t[i] = i t[-i] = i end return t

local t = {} for i = 1, 30 do t[i / 4] = i end return t

local t = {} for i = 1, 20 do t[i] = true end for i = 1, 20, 2 do t[i] = nil end for i = 1, 20 do t["x" .. i] = i end return t, #t

-- order while removing
local t, seen = {}, {} for i = 1, 20 do t["k" .. i] = i end
for k, v in pairs(t) do t[k] = nil seen[#seen + 1] = k end return seen, next(t)

local t, seen = {}, {} for i = 1, 20 do t["k" .. i] = i end
for k, v in pairs(t) do t[k] = v + 1 seen[#seen + 1] = k end return seen, t

local t = {1, 2, 3} for i, v in ipairs(t) do if i == 1 then t[4] = 4 end end return #t

local t = {1, 2, 3} local n = 0 for i, v in ipairs(t) do t[i] = nil n = n + 1 end return n, #t

local t = {1, 2, nil, 4} local n = 0 for i in ipairs(t) do n = n + 1 end return n

local t = setmetatable({}, {__index = function(t, i) if i < 4 then return i end end}) local n = 0 for i in ipairs(t) do n = n + 1 end return n

local k, v = next({5}) return k, v

local t = {a = 1} local k = next(t) t[k] = nil return next(t, k)

local t = {} for k, v in next, {1, 2, x = 3} do t[#t + 1] = tostring(k) .. "=" .. v end return t

local t = {} for k, v, extra in pairs({1}) do t[#t + 1] = tostring(extra) end return t

local t = {} for k in pairs({a = 1, 2}) do t[#t + 1] = k end return t

local n = 0 for k, v in pairs({}) do n = n + 1 end return n

-- growing while walking
local t, n = {a = 1}, 0 for k in pairs(t) do n = n + 1 if n < 3 then t["n" .. n] = n end end return t.n1

local t = {} t[1] = 1 t[2] = 2 t[3] = 3 t[2] = nil t[3] = nil return #t

local t = {} t[2] = 2 return #t, t

local t = {} t[2] = 2 t[1] = 1 return #t, t

local t = {} t[4] = 4 t[3] = 3 t[2] = 2 t[1] = 1 return #t, t

local t = {} t[1] = 1 t[1] = nil t[2] = 2 return #t

local t = {} for i = 1, 8 do t[i] = i end t[9] = 9 t[8] = nil return #t

local t = {} for i = 1, 16 do t[i] = i end t[16] = nil t[15] = nil return #t

local t = {} for i = 1, 16 do t[i] = i end t[8] = nil return #t

local t = {} for i = 1, 16 do t[i] = i end t[8] = nil t[16] = nil return #t

local t = {} for i = 1, 16 do t[i] = i end t[4] = nil t[12] = nil t[16] = nil return #t

local t = {} for i = 1, 5 do t[i] = i end t[5] = nil t[6] = 6 return #t

local a, b = {}, {} a[b] = 1 b[a] = 2 return a[b], b[a], a[a]

local f = function() end local t = {[f] = 1} return t[f], t[function() end]

local t = {} t["1"] = "s" t[1] = "n" return t[1], t["1"], t[1.0], t["1.0"]

local t = {} t[-0] = "z" return t[0], t

local t = {} t[0] = "z" return t[-0], t

local t = {["__proto__"] = 1, constructor = 2, toString = 3, hasOwnProperty = 4} return t, t.valueOf, t.prototype

local t = {} t.__proto__ = {x = 1} return t.x, t.__proto__.x, t.constructor

local s = "" return s.constructor, s.__proto__, s.length, s.toString

local k = "len" return ("abc")[k] == string.len, ("abc").len == string.len

local t = {} t[1], t[2], t[3] = 1, 2, 3 return t

local t, i = {}, 1 i, t[i] = i + 1, 20 return i, t

local t, i = {}, 1 t[i], i = 20, i + 1 return i, t

local a, b, c = 1, 2, 3 a, b, c = c, a, b return a, b, c

local t = {1, 2} t[1], t[2] = t[2], t[1] return t

local a = {} local b = a a.x, a = 1, {} return b.x, a.x

local a, b = 1, 2 a, b = b return a, b

local a, b, c a, b, c = (function() return 1, 2 end)() return a, b, c

local a, b a, b = 1, (function() return 2, 3 end)() return a, b

local function f() return 1, 2 end local a, b, c = f(), f() return a, b, c

local log = {} local function v(x) log[#log + 1] = x return x end local t = {} t[v("a")], t[v("b")] = v("c"), v("d") return log, t

local log = {} local function v(x) log[#log + 1] = x return x end local t = {v(1), x = v(2), v(3), [v(4)] = v(5), v(6)} return log, t

local log = {} local function v(x) log[#log + 1] = x return x end local r = v(1) + v(2) * v(3) - v(4) return log, r

local log = {} local function v(x) log[#log + 1] = x return x end local r = v("a") .. v("b") .. v("c") return log, r

local log = {} local function v(x) log[#log + 1] = x return x end local r = v(1) < v(2) and v(3) > v(4) or v(5) return log, r

local log = {} local function v(x) log[#log + 1] = x return x end local function f(...) return select("#", ...) end return f(v(1), v(2), v(3)), log

local a = 1 local function f() a = 10 return 1 end return a + f()

local a = 1 local function f() a = 10 return 1 end return (a) + f()

local a = 1 local function f() a = 10 return 1 end return f() + a

local a = 1 local function f() a = 10 return 1 end return a .. f()

local a = 1 local function f() a = 10 return 1 end return a < f(), a

local a = 5 local function f() a = 0 return 1 end return a == f(), a

local a = 1 local function f() a = 10 return 1 end return {a, f()}

local a = 1 local function f() a = 10 return 1 end local function g(...) return ... end return g(a, f())

local a = 1 local function f() a = 10 return 1 end local x, y = a, f() return x, y

local a = 1 local function f() a = 10 return 1 end return (function() return a + f() end)()

local a = 1 local function f() a = 10 return 1 end return (function() return a * 2 + f() end)()

local t = {1} local u = t local function f() t = {2} return 1 end return t[f()], u

local t = {} local u = t local function f() t = {} return 5 end t.x = f() return u.x, t.x

local t = {} local u = t local function f() t = {} return 5 end t[1] = f() return u[1], t[1]

local i = 1 local t = {} local function f() i = 2 return 5 end t[i] = f() return t

local a = 1 local function f() a = 10 return true end return a and f() and a

local a = {x = 1} local function f() a = {x = 2} return 1 end return a.x + f()
