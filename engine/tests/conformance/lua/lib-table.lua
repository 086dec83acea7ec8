-- The table library: layouts after each change, the order in which sort compares, errors.

local names = {} for k in pairs(table) do names[#names + 1] = k end return names

return table.concat({}), table.concat({1}), table.concat({1, 2, 3}), table.concat({"a", "b"}, ", "), table.concat({1, 2.5, "x"}, "-"), table.concat({1, 2, 3}, 0), table.concat({1, 2, 3, 4}, ",", 2), table.concat({1, 2, 3, 4}, ",", 2, 3), table.concat({1, 2, 3}, ",", 3, 2), table.concat({1, 2, 3}, ",", 2, 2), table.concat({[0] = 0, 1}, ",", 0), table.concat({[-1] = "a", [0] = "b", "c"}, ",", -1, 1)

return table.concat({1, nil, 3})

return table.concat({1, {}, 3})

return table.concat({1, true})

return table.concat({}, ",", 1, 3)

return table.concat({1, 2}, ",", 1, 3)

return table.concat()

return table.concat(nil)

return table.concat("x")

return table.concat({}, {})

return table.concat(nil, {})

return table.concat({}, ",", "x")

return table.concat({}, ",", 1, {})

return table.concat({1}, nil, nil, nil), table.concat({"a", "b"}, "\0"), #table.concat({("x"):rep(1000), ("y"):rep(1000)})

return table.concat(setmetatable({}, {__index = function(t, i) return "x" end}), ",", 1, 3)

local t = {} for i = 1, 10 do table.insert(t, i) end return t

local t = {} table.insert(t, "a") table.insert(t, 1, "b") table.insert(t, 2, "c") table.insert(t, 5, "z") return t, #t

local t = {1, 2, 3} table.insert(t, 0, "x") return t

local t = {1, 2, 3} table.insert(t, -2, "x") return t

local t = {1, 2, 3} table.insert(t, 10, "x") return t, #t

local t = {1, 2, 3} table.insert(t, 2.9, "x") return t

local t = {1, 2, 3} table.insert(t, "2", "x") return t

local t = {1, 2, 3} table.insert(t, nil) return t, #t

local t = {1, 2, 3} table.insert(t, 2, nil) return t, #t

local t = {1, nil, 3} table.insert(t, "x") return t, #t

local t = {n = 1} table.insert(t, "x") return t

return select("#", table.insert({}, 1)), table.insert({}, 1)

return table.insert()

return table.insert({})

return table.insert(nil, 1)

return table.insert({}, 1, 2, 3)

return table.insert({}, "x", 1)

return table.insert({}, nil, 1)

return pcall(table.insert, {}, 1, 2, 3)

return table.insert(string, "x")

local t = {1, 2, 3, 4, 5} local a = table.remove(t) local b = table.remove(t, 1) local c = table.remove(t, 2) return a, b, c, t, #t

local t = {1, 2, 3} return table.remove(t, 0), table.remove(t, 4), table.remove(t, -1), select("#", table.remove(t, 9)), select("#", table.remove({})), t

local t = {1, 2, 3} table.remove(t) table.remove(t) table.remove(t) table.remove(t) return t, #t

local t = {} for i = 1, 20 do t[i] = i end for i = 1, 15 do table.remove(t, 1) end return t, #t

local t = {1, nil, 3} return table.remove(t), t

return table.remove()

return table.remove(5)

return table.remove({1}, "x")

return table.remove(math, 1)

return table.getn({1, 2, 3}), table.getn({}), table.getn({1, nil, 3}), table.getn({n = 5})

return table.getn()

return table.getn("x")

return table.setn({}, 1)

return table.setn()

return table.setn(1)

return table.maxn({}), table.maxn({1, 2, 3}), table.maxn({1, nil, 3}), table.maxn({[2.5] = 1}), table.maxn({[-1] = 1}), table.maxn({[1e10] = 1, x = 2}), table.maxn({x = 1}), table.maxn({[1/0] = 1})

return table.maxn()

return table.maxn(1)

local out = {} table.foreach({10, 20, x = 1, y = 2}, function(k, v) out[#out + 1] = tostring(k) .. "=" .. tostring(v) end) return out

return table.foreach({10, 20, 30}, function(k, v) if v == 20 then return k, v end end), select("#", table.foreach({}, function() end)), table.foreach({1, 2}, function(k) return false end)

return table.foreachi({10, 20, 30}, function(k, v) if v == 20 then return k, v end end), select("#", table.foreachi({1}, function() end))

local out = {} table.foreachi({10, 20, nil, 40, x = 1}, function(k, v) out[#out + 1] = tostring(k) .. "=" .. tostring(v) end) return out

return table.foreach()

return table.foreach({})

return table.foreach({}, 1)

return table.foreachi({}, nil)

return table.foreachi(nil, 1)

return table.foreach({1}, function() error("in callback") end)

local t = {5, 2, 8, 1, 9, 3} table.sort(t) return t

local t = {"b", "a", "B", "A", "aa", "", "ab", "\255", "\0", "a\0b", "a"} table.sort(t) return t

local t = {5, 2, 8, 1, 9, 3} table.sort(t, function(a, b) return a > b end) return t

local t = {} for i = 1, 100 do t[i] = (i * 7919) % 101 end table.sort(t) return t

local log = {} local t = {5, 2, 8, 1, 9, 3, 7} table.sort(t, function(a, b) log[#log + 1] = a .. "<" .. b return a < b end) return t, table.concat(log, " ")

local log = {} local t = {} for i = 1, 40 do t[i] = (i * 13) % 11 end table.sort(t, function(a, b) log[#log + 1] = a .. "<" .. b return a < b end) return t, table.concat(log, " ")

local log = {} local t = {} for i = 1, 30 do t[i] = i end table.sort(t, function(a, b) log[#log + 1] = a .. "<" .. b return a < b end) return table.concat(log, " ")

local log = {} local t = {} for i = 1, 30 do t[i] = 30 - i end table.sort(t, function(a, b) log[#log + 1] = a .. "<" .. b return a < b end) return table.concat(log, " ")

local t = {} for i = 1, 20 do t[i] = {k = i % 4, i = i} end table.sort(t, function(a, b) return a.k < b.k end) local out = {} for i, v in ipairs(t) do out[i] = v.k .. ":" .. v.i end return table.concat(out, " ")

local t = {1, 2, 3} table.sort(t, function(a, b) return true end) return t

local t = {} for i = 1, 10 do t[i] = i end table.sort(t, function(a, b) return true end) return t

local t = {} for i = 1, 10 do t[i] = i end return pcall(table.sort, t, function(a, b) return true end)

local t = {} for i = 1, 100 do t[i] = i % 3 end table.sort(t, function(a, b) return a <= b end) return t

local t = {} for i = 1, 50 do t[i] = i % 5 end table.sort(t, function(a, b) return false end) return t

local t = {3, 1, 2, "x"} table.sort(t) return t

local t = {3, nil, 2} table.sort(t) return t

local t = {{}, {}} table.sort(t) return t

local t = {true, false} table.sort(t) return t

local t = {1, 2} table.sort(t, function(a, b) error("cmp") end) return t

local t = {1, 2} table.sort(t, function(a, b) error({}) end) return t

local t = {0/0, 1, 0/0, 2, 0/0} table.sort(t) return t

local mt = {__lt = function(a, b) return a.v < b.v end} local t = {} for i = 1, 10 do t[i] = setmetatable({v = (i * 7) % 10}, mt) end table.sort(t) local out = {} for i, x in ipairs(t) do out[i] = x.v end return out

local t = {3, 2, 1} table.sort(t, nil) return t

local t = {0, -1/(1/0), 0, -1} table.sort(t) return t

return table.sort()

return table.sort({}, 1)

return table.sort({3, 2, 1}, {})

return table.sort(1)

return select("#", table.sort({}))

return table.sort({1}), table.sort({}, nil)

return pcall(table.sort, math)

local t = {3, 1, 2} table.sort(t, function(a, b) t[4] = 9 return a < b end) return t

local t = {x = 1, 5, 4, 3} table.sort(t) return t, #t

local words = {} for w in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do words[#words + 1] = w end table.sort(words) return table.concat(words, " ")
